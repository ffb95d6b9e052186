import { sql } from '../../db/builder.ts'
import { type RawBuilder, type SqlBool, sameOrganization } from '../../db/queries.ts'
import { all } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { startTimeBudget } from '../concurrency/sweep-parts.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'

/** For so long after the last question, paper or version that named it was gone, or it was an organization's logo, an asset is kept. */
const UNUSED_DAYS = 365
/** So long after it was begun one is given up that never became whole. */
const UNFINISHED_MS = DAY_MS
const LOOKED_AT_ONCE = 200

/**
 * Looks once a day at each asset, of all organizations, for whether anything names it, and deletes what nothing has named for a year, and
 * what was begun and never arrived. For the scheduled sweep; the files go with the next one.
 */
export async function forgetUnusedAssets(system: ServiceContext): Promise<void> {
  for (const isOver = startTimeBudget(); !isOver(); ) {
    const looked = await look(system)
    await note(system, looked)
    if (looked.length < LOOKED_AT_ONCE) break
  }
  await forget(system)
}

type Looked = { organizationId: string; id: string; isUsed: boolean }

/** SQL condition: the row references the asset. The condition that it references any matches the table's partial index. */
function names(table: 'questions' | 'questionVersions' | 'libraryVersions' | 'submissionQuestions'): RawBuilder<SqlBool> {
  const ids = sql.ref(`${table}.assetIds`)
  return sql`${sameOrganization(table, 'assets')} and ${ids} <> '{}' and ${ids} @> array[${sql.ref('assets.id')}]`
}

function look({ db, deps }: ServiceContext): Promise<Looked[]> {
  const looked = unscoped(db)
    .selectFrom('assets')
    .select(['assets.organizationId', 'assets.id'])
    .select(({ exists, or, selectFrom }) => {
      const named = (['questions', 'libraryVersions', 'submissionQuestions'] as const).map((table) =>
        exists(selectFrom(table).select(sql`1`.as('one')).where(names(table))),
      )
      // Versions stay when nothing is asked by them any more.
      const asked = (['questions', 'libraryVersions', 'submissionQuestions'] as const).map((table) =>
        exists(
          selectFrom(table)
            .select(sql`1`.as('one'))
            .where(sameOrganization(table, 'questionVersions'))
            .where(() => sql<SqlBool>`${sql.ref(`${table}.versionId`)} = ${sql.ref('questionVersions.id')}`),
        ),
      )
      const versions = selectFrom('questionVersions').select(sql`1`.as('one')).where(names('questionVersions')).where(or(asked))
      // Mails that were sent show a logo for as long after it was replaced as anything unused is kept.
      const logo = selectFrom('organizations')
        .select(sql`1`.as('one'))
        .whereRef('organizations.id', '=', 'assets.organizationId')
        .where(({ ref }) => sql<SqlBool>`${ref('organizations.logoHash')} = encode(${sql.ref('assets.sha256')}, 'hex')`)
      return or([...named, exists(versions), exists(logo)])
        .$castTo<boolean>()
        .as('isUsed')
    })
    .where('assets.checkedAt', '<=', new Date(deps.clock().getTime() - DAY_MS))
    .orderBy('assets.checkedAt')
    .limit(LOOKED_AT_ONCE)
  return all(db, looked)
}

async function note({ db, deps }: ServiceContext, looked: Looked[]): Promise<void> {
  const now = deps.clock()
  for (const isUsed of [true, false]) {
    const found = looked.filter((one) => one.isUsed === isUsed)
    if (found.length === 0) continue
    const [owners, ids] = [found.map(({ organizationId }) => organizationId), found.map(({ id }) => id)]
    const noted = unscoped(db)
      .updateTable('assets')
      .where(
        ({ ref }) =>
          sql<SqlBool>`(${ref('assets.organizationId')}, ${ref('assets.id')}) in (select * from unnest(${owners}::uuid[], ${ids}::uuid[]))`,
      )
      .set(({ ref }) => ({
        checkedAt: now,
        unusedSince: isUsed ? null : sql<Date>`coalesce(${ref('assets.unusedSince')}, ${now}::timestamptz)`,
      }))
    await noted.execute()
  }
}

/** Referencing an asset clears its time, so that it is not deleted. */
async function forget({ db, deps }: ServiceContext): Promise<void> {
  const before = (ms: number) => new Date(deps.clock().getTime() - ms)
  await db.asset.deleteMany({ where: { unusedSince: { lte: before(UNUSED_DAYS * DAY_MS) } } })
  await db.asset.deleteMany({ where: { state: 'uploading', createdAt: { lte: before(UNFINISHED_MS) } } })
}
