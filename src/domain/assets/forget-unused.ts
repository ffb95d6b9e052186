import { sql } from '../../db/builder.ts'
import { everyones } from '../../db/everyone.ts'
import { among, type SqlBool, sameOwner } from '../../db/own.ts'
import { all, run } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../values/days.ts'

/** For so long after the last question, paper or version that named it was gone an asset is kept. */
const UNUSED_DAYS = 365
/** So long after it was begun one is given up that never became whole. */
const UNFINISHED_MS = DAY_MS
const LOOKED_AT_ONCE = 200

/**
 * Looks once a day at each asset, of all organizations, for whether anything names it, and deletes what nothing has named for a year, and
 * what was begun and never arrived. For the scheduled sweep; the files go with the next one.
 */
export async function forgetUnusedAssets(system: ServiceContext): Promise<void> {
  for (;;) {
    const looked = await look(system)
    await note(system, looked)
    if (looked.length < LOOKED_AT_ONCE) break
  }
  await forget(system)
}

type Looked = { id: string; isUsed: boolean }

function look({ db, deps }: ServiceContext): Promise<Looked[]> {
  const looked = everyones
    .selectFrom('assets')
    .select(['assets.id'])
    .select(({ exists, or, selectFrom }) => {
      const named = (['questions', 'questionVersions', 'libraryVersions', 'paperQuestions'] as const).map((table) =>
        exists(
          selectFrom(table)
            .select(sql`1`.as('one'))
            .where(sameOwner(table, 'assets'))
            // As the index of the table has them.
            .where(() => sql<SqlBool>`${sql.ref(`${table}.assetIds`)} <> '{}'`)
            .where(() => sql<SqlBool>`${sql.ref(`${table}.assetIds`)} @> array[${sql.ref('assets.id')}]`),
        ),
      )
      return or(named).$castTo<boolean>().as('isUsed')
    })
    .where('assets.checkedAt', '<=', new Date(deps.clock().getTime() - DAY_MS))
    .orderBy('assets.checkedAt')
    .limit(LOOKED_AT_ONCE)
  return all(db, looked)
}

async function note({ db, deps }: ServiceContext, looked: Looked[]): Promise<void> {
  const now = deps.clock()
  for (const isUsed of [true, false]) {
    const ids = looked.filter((one) => one.isUsed === isUsed).map(({ id }) => id)
    if (ids.length === 0) continue
    const noted = everyones
      .updateTable('assets')
      .where('assets.id', '=', among(ids))
      .set(({ ref }) => ({
        checkedAt: now,
        unusedSince: isUsed ? null : sql<Date>`coalesce(${ref('assets.unusedSince')}, ${now}::timestamptz)`,
      }))
    await run(db, noted)
  }
}

/** What was looked at today, and is named since, has no such time any more: whoever names it has taken that away. */
async function forget({ db, deps }: ServiceContext): Promise<void> {
  const before = (ms: number) => new Date(deps.clock().getTime() - ms)
  await db.asset.deleteMany({ where: { unusedSince: { lte: before(UNUSED_DAYS * DAY_MS) } } })
  await db.asset.deleteMany({ where: { state: 'uploading', createdAt: { lte: before(UNFINISHED_MS) } } })
}
