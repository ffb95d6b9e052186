import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'

type Range = { from: bigint; head: bigint }

/**
 * Position of the nth event after another, or the end of the feed. Counts events, because positions have gaps: billions after a restored
 * backup.
 */
export async function findEndOfBatch({ db }: Pick<ServiceContext, 'db'>, { from, head }: Range, atMost: number): Promise<bigint> {
  const next = unscoped(db)
    .selectFrom('events')
    .select('events.position')
    .where('events.position', '>', String(from))
    .where('events.position', '<=', String(head))
    .orderBy('events.position')
    .limit(atMost)
  const { count, last } = await unscoped(db)
    .selectFrom(next.as('next'))
    .select(({ fn, cast }) => [cast<number>(fn.countAll(), 'integer').as('count'), fn.max('next.position').as('last')])
    .executeTakeFirstOrThrow()
  return count < atMost || last === null ? head : BigInt(last)
}
