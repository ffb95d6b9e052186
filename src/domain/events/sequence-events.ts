import { identity } from '../../db/identity.ts'
import type { Expressions } from '../../db/queries.ts'
import { executeAll, prepare } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { detectRestore } from './detect-restore.ts'

/** Events per transaction: it blocks other processes, and must stay far below the statement timeout. */
const NUMBERED_AT_ONCE = 2_000

/**
 * Gives every committed event its position in the feed. Positions become visible in order and without holes, so that readers miss nothing,
 * however long a transaction took. The lock on the row of `event_sequence` serializes processes; the statement starts after acquiring it,
 * and so sees all earlier positions. Events of one invite are inserted while its row is locked, so their order is the order of insertion.
 *
 * @returns the highest position.
 */
export async function sequenceEvents(ctx: ServiceContext): Promise<bigint> {
  const { head, oldest, isNoted } = await measureSequenceLag(ctx)
  if (!oldest && isNoted) return head
  for (;;) {
    const { numbered, head, isNoted } = await numberBatch(ctx)
    if (!isNoted) {
      await detectRestore(ctx)
      continue
    }
    ctx.deps.metrics.eventsNumbered(numbered)
    if (numbered < NUMBERED_AT_ONCE) return head
  }
}

async function numberBatch({ db }: ServiceContext): Promise<{ head: bigint; numbered: number; isNoted: boolean }> {
  const [batch] = await executeAll(db, [lockSequence(db, {}), numberNext(db, {})])
  return { ...batch!, head: BigInt(batch!.head) }
}

/** True if positions were last assigned in this database. */
const isNoted = (eb: Expressions<'eventSequence'>) => eb('eventSequence.database', 'is not distinct from', identity)

const lockSequence = prepare(() => unscoped().selectFrom('eventSequence').select('position').forUpdate())

const numberNext = prepare(() =>
  unscoped()
    .with(
      (cte) => cte('unnumbered').materialized(),
      (db) => {
        const waiting = db
          .selectFrom('events')
          .select(['id', 'sequence'])
          .where('position', 'is', null)
          .where(({ exists, selectFrom }) => exists(selectFrom('eventSequence').where(isNoted)))
          .orderBy('sequence')
        // Skips rows that a transaction deleting their organization has locked, so that other events don't wait for it.
        return waiting.limit(NUMBERED_AT_ONCE).forNoKeyUpdate().skipLocked()
      },
    )
    .with('numbered', (db) =>
      db
        .updateTable('events')
        .from((eb) =>
          eb
            .selectFrom(['unnumbered', 'eventSequence'])
            .select((eb) => {
              const nth = eb.fn.agg<string>('row_number').over((window) => window.orderBy('unnumbered.sequence'))
              return ['unnumbered.id', eb('eventSequence.position', '+', nth).as('position')]
            })
            .as('next'),
        )
        .set((eb) => ({ position: eb.ref('next.position') }))
        .whereRef('events.id', '=', 'next.id')
        .returning('events.id'),
    )
    .updateTable('eventSequence')
    .set((eb) => ({
      position: eb(
        'position',
        '+',
        eb.selectFrom('numbered').select(({ fn }) => fn.countAll<string>().as('count')),
      ),
    }))
    .returning((eb) => [
      'position as head',
      eb
        .selectFrom('numbered')
        .select((eb) => eb.cast<number>(eb.fn.countAll(), 'integer').as('count'))
        .as('numbered'),
      isNoted(eb).as('isNoted'),
    ])
    .$narrowType<{ numbered: number; isNoted: boolean }>(),
)

/**
 * Highest position, and creation time of the oldest event without one; null if there is none.
 *
 * @returns also `isNoted`: true if this is the database that was numbered before.
 */
export async function measureSequenceLag({
  db,
}: Pick<ServiceContext, 'db'>): Promise<{ head: bigint; oldest: Date | null; isNoted: boolean }> {
  const measured = await numbering(db, {}).executeTakeFirstOrThrow()
  return { ...measured, head: BigInt(measured.head) }
}

const numbering = prepare(() =>
  unscoped()
    .selectFrom('eventSequence')
    .select((eb) => [
      'position as head',
      eb
        .selectFrom('events')
        .select('events.createdAt')
        .where('events.position', 'is', null)
        .orderBy('events.sequence')
        .limit(eb.lit(1))
        .as('oldest'),
      isNoted(eb).as('isNoted'),
    ])
    .$narrowType<{ isNoted: boolean }>(),
)
