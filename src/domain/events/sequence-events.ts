import { identity } from '../../db/identity.ts'
import type { Expressions } from '../../db/queries.ts'
import { executeAll, prepare } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { detectRestore } from './detect-restore.ts'

/** Events a transaction: it holds up every other one that numbers, and is far from the time that a statement has. */
const NUMBERED_AT_ONCE = 2_000

/**
 * Gives every committed event its position in the feed. Whoever reads can't miss one: positions have no holes, become visible in their
 * order, and what is committed later is numbered later, however long its transaction took. The lock on the one row of
 * `event_sequence` lets processes take turns; the events are looked at by a statement that begins when it is held, and so sees all
 * that the one before has numbered. Those of one invite are recorded while its row is locked, so the order of insertion is theirs.
 *
 * @returns the highest position given, by whichever process.
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
              const nth = eb.fn.agg<string>('row_number').over((over) => over.orderBy('unnumbered.sequence'))
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
 * The highest position given, and since when the event waits that is to be numbered next; null when none waits.
 *
 * @returns also `isNoted`: whether this is the database that was numbered in before.
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
