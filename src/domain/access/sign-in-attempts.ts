import { hash } from 'node:crypto'
import { into } from '../../db/own.ts'
import { one } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { Origin } from './sessions.ts'

/** What is counted: attempts to sign in, or wishes for a new password. */
type Purpose = 'sign-in' | 'reset'
/**
 * Whose attempts. Those of a network that is refused already are not counted against the address. A `proxy` is a network behind which may
 * be anybody.
 */
type Counted = 'address' | 'network' | 'proxy'

/** How often within {@link WINDOW_MS} of the first. */
const LIMITS = {
  'sign-in': { address: 5, network: 50, proxy: 1_000 },
  reset: { address: 3, network: 50, proxy: 1_000 },
} as const
const WINDOW_MS = 15 * 60_000

type Attempt = { email: string; origin: Origin }

const kindOf = ({ isShared }: Origin): Counted => (isShared ? 'proxy' : 'network')

/** Five wrong passwords of an address, fifty from a network. @throws DomainError invalid: `tooMany`, with the seconds to wait. */
export async function countSignIn(ctx: ServiceContext, { email, origin }: Attempt): Promise<void> {
  const seconds = (await count(ctx, 'sign-in', kindOf(origin), origin.network)) ?? (await count(ctx, 'sign-in', 'address', email))
  if (seconds !== null) throw tooMany(seconds)
}

/** Whether a new password may be asked for once more for the address, which nobody is told. @throws DomainError invalid: `tooMany`, of the network. */
export async function countReset(ctx: ServiceContext, { email, origin }: Attempt): Promise<boolean> {
  const seconds = await count(ctx, 'reset', kindOf(origin), origin.network)
  if (seconds !== null) throw tooMany(seconds)
  return (await count(ctx, 'reset', 'address', email)) === null
}

/** The person has shown to be who they are: what was tried before is no reason to refuse them. */
export async function forgiveAddress({ db }: ServiceContext, email: string): Promise<void> {
  await db.signInAttempt.deleteMany({ where: { key: keyOf('sign-in', 'address', email) } })
}

/** Forgives the address what was tried with it, and its network the attempt that was counted: it was no wrong one. */
export async function forgiveSignIn(ctx: ServiceContext, { email, origin }: Attempt): Promise<void> {
  await forgiveAddress(ctx, email)
  await ctx.db.signInAttempt.updateMany({
    where: { key: keyOf('sign-in', kindOf(origin), origin.network), count: { gt: 0 } },
    data: { count: { decrement: 1 } },
  })
}

/**
 * Counts an attempt before it is known how it ends, so that many at once are no more than many in a row; over all processes, because the
 * database does it.
 *
 * @returns the seconds to wait when there were too many; null when there were not.
 */
async function count({ db, deps }: ServiceContext, purpose: Purpose, of: Counted, text: string): Promise<number | null> {
  const now = deps.clock()
  const endsAt = new Date(now.getTime() + WINDOW_MS)
  const attempt = into('signInAttempts').values({ key: keyOf(purpose, of, text), count: 1, endsAt })
  const counting = attempt
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        const isOver = eb('signInAttempts.endsAt', '<=', now)
        const more = eb(eb.fn<number>('least', ['signInAttempts.count', eb.lit(1_000_000)]), '+', eb.lit(1))
        return {
          count: eb.case().when(isOver).then(eb.lit(1)).else(more).end(),
          endsAt: eb.case().when(isOver).then(eb.ref('excluded.endsAt')).else(eb.ref('signInAttempts.endsAt')).end(),
        }
      }),
    )
    .returning(['count', 'endsAt'])
  const counted = await one(db, counting)
  return counted.count > LIMITS[purpose][of] ? Math.ceil((counted.endsAt.getTime() - now.getTime()) / 1000) : null
}

const tooMany = (seconds: number) =>
  new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'tooMany', limit: seconds }] })

const keyOf = (purpose: Purpose, of: Counted, text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', `${purpose} ${of} ${text.toLowerCase()}`, 'buffer'))
