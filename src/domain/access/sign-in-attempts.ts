import { hash } from 'node:crypto'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'

/** What is counted: attempts to sign in, or wishes for a new password. */
type Purpose = 'sign-in' | 'reset'

/** How often within {@link WINDOW_MS} of the first. */
const LIMITS = { 'sign-in': { address: 5, network: 50 }, reset: { address: 3, network: 50 } } as const
const WINDOW_MS = 15 * 60_000

type Attempt = { email: string; network: string }

/**
 * Counts an attempt before it is known how it ends, so that many at once are no more than many in a row; over all processes, because the
 * database does it.
 *
 * @returns whether the address has been tried too often; the seconds until it may be tried again.
 * @throws DomainError invalid (`tooMany`, with the seconds as its limit) when the network has tried too often.
 */
async function count({ db, deps }: ServiceContext, purpose: Purpose, { email, network }: Attempt): Promise<number | null> {
  const now = deps.clock()
  const endsAt = new Date(now.getTime() + WINDOW_MS)
  const keys = { address: keyOf(purpose, 'address', email), network: keyOf(purpose, 'network', network) }
  // In the order of the keys: two statements that lock the same rows never wait for each other in a ring.
  const ordered = Object.values(keys).sort((a, b) => Buffer.compare(a, b))
  const rows: { key: Uint8Array; count: number; endsAt: Date }[] = []
  for (const key of ordered)
    rows.push(
      ...(await db.$queryRaw<typeof rows>`
        INSERT INTO sign_in_attempts AS counted (key, count, ends_at) VALUES (${key}, 1, ${endsAt})
        ON CONFLICT (key) DO UPDATE SET
          count = CASE WHEN counted.ends_at <= ${now} THEN 1 ELSE least(counted.count, 1000000) + 1 END,
          ends_at = CASE WHEN counted.ends_at <= ${now} THEN ${endsAt} ELSE counted.ends_at END
        RETURNING key, count, ends_at AS "endsAt"`),
    )
  const wait = (of: 'address' | 'network') => {
    const row = rows.find(({ key }) => Buffer.compare(key, keys[of]) === 0)!
    return row.count > LIMITS[purpose][of] ? Math.ceil((row.endsAt.getTime() - now.getTime()) / 1000) : null
  }
  const seconds = wait('network')
  if (seconds !== null) throw tooMany(seconds)
  return wait('address')
}

/** Five wrong passwords of an address, fifty from a network. @throws DomainError invalid: `tooMany`, with the seconds to wait. */
export async function countSignIn(ctx: ServiceContext, attempt: Attempt): Promise<void> {
  const seconds = await count(ctx, 'sign-in', attempt)
  if (seconds !== null) throw tooMany(seconds)
}

/** Whether a new password may be asked for once more for the address, which nobody is told. @throws DomainError invalid: `tooMany`, of the network. */
export const countReset = async (ctx: ServiceContext, attempt: Attempt): Promise<boolean> =>
  (await count(ctx, 'reset', attempt)) === null

/** The person has shown to be who they are: what was tried before is no reason to refuse them, and this attempt was no wrong one. */
export async function forgiveSignIns({ db }: ServiceContext, { email, network }: Attempt): Promise<void> {
  await db.signInAttempt.deleteMany({ where: { key: keyOf('sign-in', 'address', email) } })
  await db.signInAttempt.updateMany({
    where: { key: keyOf('sign-in', 'network', network), count: { gt: 0 } },
    data: { count: { decrement: 1 } },
  })
}

const tooMany = (seconds: number) =>
  new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'tooMany', limit: seconds }] })

const keyOf = (purpose: Purpose, of: 'address' | 'network', text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', `${purpose} ${of} ${text.toLowerCase()}`, 'buffer'))
