import { sql } from '../../db/builder.ts'
import { identity } from '../../db/identity.ts'
import { executeAll, prepare } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'

/** Entries a transaction. */
const NUMBERED_AT_ONCE = 2_000

/**
 * Assigns each committed audit entry its position, so that readers who follow positions miss none, however long a transaction took. The
 * lock on the single row of `audit_sequence` makes processes take turns. In a database that was restored or promoted, positions continue
 * above everything that its predecessors can have assigned, so that readers who are ahead of it miss no later entry.
 */
export async function sequenceAuditEntries({ db, deps }: ServiceContext): Promise<void> {
  const { isWaiting } = await hasUnnumbered(db, {}).executeTakeFirstOrThrow()
  if (!isWaiting) return
  for (;;) {
    const params = { milliseconds: deps.clock().getTime() }
    const [batch] = await executeAll(db, [lockSequence(db, {}), recordDatabase(db, params), numberNext(db, {})])
    if (batch!.numbered < NUMBERED_AT_ONCE) return
  }
}

const unnumbered = unscoped().selectFrom('auditEntries').select('id').where('position', 'is', null)

const hasUnnumbered = prepare(() =>
  unscoped()
    .selectFrom('auditSequence')
    .select((eb) =>
      eb
        .exists(unnumbered.limit(eb.lit(1)))
        .$castTo<boolean>()
        .as('isWaiting'),
    ),
)

const lockSequence = prepare(() => unscoped().selectFrom('auditSequence').select('position').forUpdate())

const recordDatabase = prepare(({ milliseconds }: { milliseconds: number }) =>
  unscoped()
    .updateTable('auditSequence')
    .set((eb) => ({
      database: identity,
      position: sql<string>`CASE WHEN ${eb.ref('database')} IS NULL THEN ${eb.ref('position')}
        ELSE greatest(${eb.ref('position')} + 1, ${milliseconds}::bigint) END`,
    }))
    .where('database', 'is distinct from', identity)
    .returning('position'),
)

const numberNext = prepare(() =>
  unscoped()
    .with(
      (cte) => cte('chosen').materialized(),
      // Skips rows that a transaction deleting their organization has locked.
      () => unnumbered.select('at').orderBy('at').orderBy('id').limit(NUMBERED_AT_ONCE).forNoKeyUpdate().skipLocked(),
    )
    .with('numbered', (db) =>
      db
        .updateTable('auditEntries')
        .from((eb) =>
          eb
            .selectFrom(['chosen', 'auditSequence'])
            .select((eb) => {
              const nth = eb.fn.agg<string>('row_number').over((window) => window.orderBy('chosen.at').orderBy('chosen.id'))
              return ['chosen.id', eb('auditSequence.position', '+', nth).as('position')]
            })
            .as('next'),
        )
        .set((eb) => ({ position: eb.ref('next.position') }))
        .whereRef('auditEntries.id', '=', 'next.id')
        .returning('auditEntries.id'),
    )
    .updateTable('auditSequence')
    .set((eb) => ({
      position: eb(
        'position',
        '+',
        eb.selectFrom('numbered').select(({ fn }) => fn.countAll<string>().as('count')),
      ),
    }))
    .returning((eb) => [
      eb
        .selectFrom('numbered')
        .select((eb) => eb.cast<number>(eb.fn.countAll(), 'integer').as('count'))
        .$asScalar()
        .$notNull()
        .as('numbered'),
    ]),
)
