import { sql } from '../../db/builder.ts'
import { type RawBuilder, type SqlBool, sameOrganization } from '../../db/queries.ts'
import { unscoped } from '../../db/unscoped.ts'
import { startTimeBudget } from '../concurrency/sweep-parts.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'

/** An upload that takes longer has failed. */
const UNFINISHED_MS = DAY_MS
const ASSETS_AT_ONCE = 200

/**
 * Checks each asset of all organizations once a day, and records since when nothing references it; referencing it clears that time. After a
 * year `deleteExpiredRows` deletes it. Deletes unfinished uploads. The files go with the next sweep.
 */
export async function checkUnusedAssets(system: ServiceContext): Promise<void> {
  for (const isOver = startTimeBudget(); !isOver(); ) {
    const checked = await findDueAssets(system)
    await recordChecks(system, checked)
    if (checked.length < ASSETS_AT_ONCE) break
  }
  await deleteUnfinishedAssets(system)
}

type CheckedAsset = { organizationId: string; id: string; isUsed: boolean }

/** SQL condition: the row references the asset. The condition that it references any matches the table's partial index. */
function names(table: 'questions' | 'questionVersions' | 'libraryVersions' | 'submissionQuestions'): RawBuilder<SqlBool> {
  const ids = sql.ref(`${table}.assetIds`)
  return sql`${sameOrganization(table, 'assets')} and ${ids} <> '{}' and ${ids} @> array[${sql.ref('assets.id')}]`
}

function findDueAssets({ db, deps }: ServiceContext): Promise<CheckedAsset[]> {
  const checked = unscoped(db)
    .selectFrom('assets')
    .select(['assets.organizationId', 'assets.id'])
    .select(({ exists, or, selectFrom }) => {
      const named = (['questions', 'libraryVersions', 'submissionQuestions'] as const).map((table) =>
        exists(selectFrom(table).select(sql`1`.as('one')).where(names(table))),
      )
      // Versions stay after the last question that uses them.
      const usages = (['questions', 'libraryVersions', 'submissionQuestions'] as const).map((table) =>
        exists(
          selectFrom(table)
            .select(sql`1`.as('one'))
            .where(sameOrganization(table, 'questionVersions'))
            .where(() => sql<SqlBool>`${sql.ref(`${table}.versionId`)} = ${sql.ref('questionVersions.id')}`),
        ),
      )
      const versions = selectFrom('questionVersions').select(sql`1`.as('one')).where(names('questionVersions')).where(or(usages))
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
    .limit(ASSETS_AT_ONCE)
  return checked.execute()
}

async function recordChecks({ db, deps }: ServiceContext, checked: CheckedAsset[]): Promise<void> {
  const now = deps.clock()
  for (const isUsed of [true, false]) {
    const found = checked.filter((asset) => asset.isUsed === isUsed)
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

async function deleteUnfinishedAssets({ db, deps }: ServiceContext): Promise<void> {
  const createdAt = { lte: new Date(deps.clock().getTime() - UNFINISHED_MS) }
  await db.asset.deleteMany({ where: { state: 'uploading', createdAt } })
}
