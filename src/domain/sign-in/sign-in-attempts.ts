import { hash } from 'node:crypto'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { DAY_MS } from '../time/days.ts'
import type { Familiarity } from './devices.ts'
import type { NetworkOrigin } from './sessions.ts'

const QUARTER_HOUR_MS = 15 * 60_000

/** Limits within a time from the first attempt. Each is counted separately. */
const LIMITS = {
  /** A browser that signed in before; beyond the limit it counts as new. */
  device: { most: 10, windowMs: QUARTER_HOUR_MS },
  'address from network': { most: 5, windowMs: QUARTER_HOUR_MS },
  /** All new browsers and networks together. */
  strangers: { most: 30, windowMs: DAY_MS },
  network: { most: 50, windowMs: QUARTER_HOUR_MS },
  /** An IPv6 /48, which one customer may have. */
  site: { most: 200, windowMs: QUARTER_HOUR_MS },
  /** A network behind which may be anybody. */
  proxy: { most: 1_000, windowMs: QUARTER_HOUR_MS },
  /** Codes of a person's second factor, of all browsers that are new to them together. */
  codes: { most: 5, windowMs: QUARTER_HOUR_MS },
  'codes a day': { most: 20, windowMs: DAY_MS },
  'reset address': { most: 3, windowMs: QUARTER_HOUR_MS },
  'reset network': { most: 50, windowMs: QUARTER_HOUR_MS },
  'reset proxy': { most: 1_000, windowMs: QUARTER_HOUR_MS },
  'registration network': { most: 50, windowMs: QUARTER_HOUR_MS },
  'registration site': { most: 200, windowMs: QUARTER_HOUR_MS },
  'registration proxy': { most: 1_000, windowMs: QUARTER_HOUR_MS },
  /** Access codes of a link to results, from one network and in all. */
  'share code': { most: 5, windowMs: QUARTER_HOUR_MS },
  'share codes a day': { most: 30, windowMs: DAY_MS },
  /** Forms of a person that are kept until they are signed in. */
  'saved forms': { most: 20, windowMs: QUARTER_HOUR_MS },
} as const
type Counted = keyof typeof LIMITS
type NetworkRef = Pick<NetworkOrigin, 'network' | 'isShared'>

export type SignInAttempt = Familiarity & { email: string; origin: NetworkOrigin }

/**
 * Counts a sign-in attempt, before the password is checked. Each known browser of the person has its own count, which nobody else can use
 * up. Others count for their network first; if that is refused, the address is not counted.
 *
 * @throws DomainError invalid: `tooMany` with the seconds to wait; `unknownBrowser` if browser and network are new to the address.
 */
export async function countSignInAttempt(
  ctx: ServiceContext,
  { email, origin, deviceId, isKnownNetwork }: SignInAttempt,
): Promise<void> {
  if (deviceId && (await count(ctx, 'device', deviceId)) === null) return
  for (const [counted, text] of [...networkKeysOf(origin), ['address from network', `${email} ${origin.network}`]] as const) {
    const seconds = await count(ctx, counted, text)
    if (seconds !== null) throw tooMany(seconds)
  }
  if (!isKnownNetwork && (await count(ctx, 'strangers', email)) !== null)
    throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'unknownBrowser' }] })
}

/** True if new browsers and networks have used up their attempts for the address. */
export async function areStrangersRefused({ db, deps }: ServiceContext, email: string): Promise<boolean> {
  const where = { key: keyOf('strangers', email), count: { gte: LIMITS.strangers.most }, expiresAt: { gt: deps.clock() } }
  return (await db.signInAttempt.count({ where })) > 0
}

const SITE_GROUPS = 3

function networkKeysOf({ network, isShared }: NetworkRef): ['proxy' | 'site' | 'network', string][] {
  if (isShared) return [['proxy', network]]
  const site = network.includes(':') ? network.split(':').slice(0, SITE_GROUPS).join(':') : null
  return [...(site === null ? [] : [['site', site] as ['site', string]]), ['network', network]]
}

/**
 * Counts a password reset. False beyond the limit of the address, which the caller doesn't show. @throws DomainError invalid:
 * `tooMany` beyond the limit of the network.
 */
export async function countResetRequest(
  ctx: ServiceContext,
  { email, origin }: { email: string; origin: NetworkOrigin },
): Promise<boolean> {
  const seconds = await count(ctx, origin.isShared ? 'reset proxy' : 'reset network', origin.network)
  if (seconds !== null) throw tooMany(seconds)
  return (await count(ctx, 'reset address', email)) === null
}

/** Counts a form of an open link for its network, before anything is looked up. @returns seconds to wait beyond the limit, or null. */
export async function countRegistration(ctx: ServiceContext, origin: NetworkRef): Promise<number | null> {
  for (const [counted, text] of networkKeysOf(origin)) {
    const seconds = await count(ctx, `registration ${counted}`, text)
    if (seconds !== null) return seconds
  }
  return null
}

/** Counts an access code of a link to results, before it is checked. @throws DomainError invalid: `tooMany`, with the seconds to wait. */
export async function countShareCode(ctx: ServiceContext, shareLinkId: string, origin: NetworkRef): Promise<void> {
  const counts = [
    ...networkKeysOf(origin),
    ['share code', `${shareLinkId} ${origin.network}`],
    ['share codes a day', shareLinkId],
  ] as const
  for (const [counted, text] of counts) {
    const seconds = await count(ctx, counted, text)
    if (seconds !== null) throw tooMany(seconds, 'code')
  }
}

/** Counts saved forms, so that the cookie of an ended session can't fill the database. */
export const maySaveForm = async (ctx: ServiceContext, credentialId: string): Promise<boolean> =>
  (await count(ctx, 'saved forms', credentialId)) === null

/**
 * Resets the person's own count after signing in, and takes the attempt back from their network's. Other people's attempts stay counted.
 */
export async function resetSignInCount(
  { db }: ServiceContext,
  { email, origin, deviceId }: Omit<SignInAttempt, 'isKnownNetwork'>,
): Promise<void> {
  const ownKeys = [keyOf('address from network', `${email} ${origin.network}`), ...(deviceId ? [keyOf('device', deviceId)] : [])]
  await db.signInAttempt.deleteMany({ where: { key: { in: ownKeys } } })
  const shared = [...networkKeysOf(origin).map(([counted, text]) => keyOf(counted, text)), keyOf('strangers', email)]
  const counted = { key: { in: shared }, count: { gt: 0 } }
  if (!deviceId) await db.signInAttempt.updateMany({ where: counted, data: { count: { decrement: 1 } } })
}

/** Resets the count of an address for the network of a person who has proven that they read its email. */
export async function resetAddressCount(
  { db }: ServiceContext,
  { email, origin }: { email: string; origin: NetworkOrigin },
): Promise<void> {
  const keys = [keyOf('address from network', `${email} ${origin.network}`), keyOf('strangers', email)]
  await db.signInAttempt.deleteMany({ where: { key: { in: keys } } })
}

/** Counts codes per person, and separately for a browser that signed in before, so that nobody else can use up its attempts. */
export type CodeSource = { credentialId: string; deviceId: string | null }
const coderOf = ({ credentialId, deviceId }: CodeSource): string => deviceId ?? credentialId

/** Five codes in a quarter of an hour, twenty a day. @throws DomainError invalid: `tooMany`, with the seconds to wait. */
export async function countCodeAttempt(ctx: ServiceContext, coder: CodeSource): Promise<void> {
  const countedPerson = coderOf(coder)
  const seconds = (await count(ctx, 'codes', countedPerson)) ?? (await count(ctx, 'codes a day', countedPerson))
  if (seconds !== null) throw tooMany(seconds, 'code')
}

/** Forgives a person the codes that were wrong before this one. */
export async function resetCodeCount({ db }: ServiceContext, coder: CodeSource): Promise<void> {
  const keys = [keyOf('codes', coderOf(coder)), keyOf('codes a day', coderOf(coder))]
  await db.signInAttempt.deleteMany({ where: { key: { in: keys } } })
}

/**
 * Counts an attempt before its outcome is known, so that simultaneous attempts count like consecutive ones. The database counts, over all
 * processes.
 *
 * @returns seconds to wait after too many attempts; otherwise null.
 */
async function count({ db, deps }: ServiceContext, counted: Counted, text: string): Promise<number | null> {
  const { most, windowMs } = LIMITS[counted]
  const now = deps.clock()
  const expiresAt = new Date(now.getTime() + windowMs)
  const attempt = unscoped(db)
    .insertInto('signInAttempts')
    .values({ key: keyOf(counted, text), count: 1, expiresAt })
  const counting = attempt
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        const isOver = eb('signInAttempts.expiresAt', '<=', now)
        const more = eb(eb.fn<number>('least', ['signInAttempts.count', eb.lit(1_000_000)]), '+', eb.lit(1))
        return {
          count: eb.case().when(isOver).then(eb.lit(1)).else(more).end(),
          expiresAt: eb.case().when(isOver).then(eb.ref('excluded.expiresAt')).else(eb.ref('signInAttempts.expiresAt')).end(),
        }
      }),
    )
    .returning(['count', 'expiresAt'])
  const after = await counting.executeTakeFirstOrThrow()
  return after.count > most ? Math.ceil((after.expiresAt.getTime() - now.getTime()) / 1000) : null
}

const tooMany = (seconds: number, field = '') =>
  new DomainError('invalid', { issues: [{ field, rule: 'account', problem: 'tooMany', limit: seconds }] })

const keyOf = (counted: Counted, text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', `${counted} ${text.toLowerCase()}`, 'buffer'))
