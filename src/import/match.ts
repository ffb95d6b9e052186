import { sql } from '../db/builder.ts'
import type { Connection } from '../db/client.ts'
import { type AliasedExpression, anyOfIds } from '../db/queries.ts'
import { unscoped } from '../db/unscoped.ts'
import { inBatches } from './batches.ts'
import type { ImportProblem } from './problems.ts'

/** Kinds of rows in load order: each refers only to earlier kinds. */
export const KINDS = [
  'organizations',
  'languages',
  'categories',
  'instructions',
  'members',
  'apiKeys',
  'tags',
  'assessments',
  'questions',
  'invites',
] as const
export type Kind = (typeof KINDS)[number]
/** Languages are matched separately. */
type MatchedKind = Exclude<Kind, 'languages'>

/** A row that passed the schema, perhaps partly. `key` is its natural key, folded like in the database. */
export type FoundRow<T> = { path: string; row: Partial<T> }
export type Candidate = FoundRow<{ id: string }> & { key: string | undefined }

/** State shared by the checks. */
export type ImportCheck = {
  db: Connection
  newId: () => string
  /** Records a problem. Only the first one per path counts. */
  report: (path: string, message: string) => void
  /** Database ids by row of the document; new rows get a new id. */
  ids: Map<object, string>
  /** Paths that use an id. Ids are unique across organizations. */
  usedIds: Record<MatchedKind, Map<string, string>>
}

export function createCheck(db: Connection, newId: () => string): { check: ImportCheck; problems: () => ImportProblem[] } {
  const found = new Map<string, string>()
  const report = (path: string, message: string) => void (found.has(path) || found.set(path, message))
  const usedIds = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as ImportCheck['usedIds']
  const problems = () => [...found].map(([path, message]) => ({ path, message }))
  return { check: { db, newId, report, ids: new Map(), usedIds }, problems }
}

/** The rows of a list with their paths, without rows that the schema refused. */
export const rowsIn = <T extends object>(list: readonly T[] | undefined, path: string): FoundRow<T>[] =>
  (list ?? []).flatMap((row, index) => (row ? [{ path: `${path}[${index}]`, row }] : []))

/** Rows per query. */
const BATCH = 5_000

type Source = {
  noun: string
  keyField: string
  /** True if the database enforces a unique natural key. */
  unique: boolean
  rows: PlacedRows
}
/** An existing row with its natural key. @property isLeftOut true for test data and retakes, which the import never writes. */
type Existing = { id: string; owner: string | null; key: string; isLeftOut: boolean }
type Placed = Existing & { assessmentId: string | null; address: string | null }
type PlacedRows = AliasedExpression<Placed, 'found'>

const nothing = sql<null>`null::uuid`
const imported = sql<boolean>`false`.as('isLeftOut')
const unplaced = [nothing.as('assessmentId'), sql<null>`null::text`.as('address'), imported] as const
const tables = {
  organizations: unscoped()
    .selectFrom('organizations')
    .select(['id', nothing.as('owner'), 'nameKey as key', ...unplaced]),
  categories: unscoped()
    .selectFrom('categories')
    .select(['id', 'organizationId as owner', 'name as key', ...unplaced]),
  instructions: unscoped()
    .selectFrom('instructions')
    .select(({ ref }) => sql<string>`${ref('title')} || E'\\n' || ${ref('body')}`.as('key'))
    .select(['id', 'organizationId as owner', ...unplaced]),
  members: unscoped()
    .selectFrom('members')
    .select(({ fn }) => ['id', 'organizationId as owner', fn<string>('address_key', ['email']).as('key'), ...unplaced]),
  apiKeys: unscoped()
    .selectFrom('apiKeys')
    .select(['id', 'organizationId as owner', 'name as key', ...unplaced]),
  tags: unscoped()
    .selectFrom('tags')
    .select(['id', 'organizationId as owner', 'nameKey as key', nothing.as('assessmentId'), sql<null>`null::text`.as('address')])
    .select(({ ref }) => sql<boolean>`${ref('mode')} <> 'live'`.as('isLeftOut')),
  assessments: unscoped()
    .selectFrom('assessments')
    .select(['id', 'organizationId as owner', 'name as key', ...unplaced]),
  questions: unscoped()
    .selectFrom('questions')
    .select(({ ref }) => sql<string>`${ref('assessmentId')} || ' ' || ${ref('order')}`.as('key'))
    .select(['id', 'organizationId as owner', 'assessmentId', sql<null>`null::text`.as('address'), imported]),
  invites: unscoped()
    .selectFrom('invites')
    .select(({ ref }) => sql<boolean>`(${ref('mode')} <> 'live' or ${ref('attempt')} > 1)`.as('isLeftOut'))
    .select(({ ref }) => sql<string>`${ref('assessmentId')} || ' ' || address_key(${ref('recipientEmail')})`.as('key'))
    .select(({ fn }) => [
      'id',
      'organizationId as owner',
      'assessmentId',
      fn<string>('address_key', ['recipientEmail']).as('address'),
    ]),
}

const source = (noun: string, rows: PlacedRows, keyField: string, { unique = true } = {}): Source => ({
  noun,
  rows,
  keyField,
  unique,
})

const SOURCES: Record<MatchedKind, Source> = {
  organizations: source('organization', tables.organizations.as('found'), 'name'),
  categories: source('category', tables.categories.as('found'), 'name'),
  instructions: source('instruction', tables.instructions.as('found'), 'body', { unique: false }),
  members: source('member', tables.members.as('found'), 'email'),
  apiKeys: source('API key', tables.apiKeys.as('found'), 'name'),
  tags: source('tag', tables.tags.as('found'), 'name'),
  assessments: source('assessment', tables.assessments.as('found'), 'name', { unique: false }),
  questions: source('question', tables.questions.as('found'), 'order', { unique: false }),
  invites: source('invite', tables.invites.as('found'), 'recipientEmail'),
}

/** Names of rows that the import never writes. */
const LEFT_OUT_NAMES: Partial<Record<MatchedKind, string>> = { tags: 'a test tag', invites: 'a test invite or a retake' }

export const nounOf = (kind: MatchedKind): string => SOURCES[kind].noun

/** Natural key of a row within an assessment, as in SOURCES. */
export const keyWithin = (assessmentId: string | undefined, key: string | number | undefined): string | undefined =>
  assessmentId === undefined || key === undefined ? undefined : `${assessmentId} ${key}`

/**
 * Matches each row of a list to a row of the database: by id, or, without an id, by natural key if no other row of the list has that row's id.
 * New rows get an id. Reports duplicate ids, ids of other organizations, ambiguous natural keys, and unique keys in use.
 *
 * @param organizationId null for rows without an organization.
 * @returns the ids of this kind that the organization has, or will have.
 */
export async function matchRows(
  check: ImportCheck,
  kind: MatchedKind,
  organizationId: string | null,
  rows: Candidate[],
): Promise<Set<string>> {
  const { unique } = SOURCES[kind]
  const existing = await findExisting(check.db, kind, organizationId, rows)
  const ownRows = existing.filter(({ owner, isLeftOut }) => owner === organizationId && !isLeftOut)
  const foreign = new Set(existing.filter(({ owner }) => owner !== organizationId).map(({ id }) => id))
  const leftOut = new Set(existing.filter(({ isLeftOut }) => isLeftOut).map(({ id }) => id))
  const importedIds = new Set(rows.map(({ row }) => row.id))
  const holders = Map.groupBy(
    ownRows.filter(({ id }) => unique || !importedIds.has(id)),
    ({ key }) => key,
  )
  const pathByKey = new Map<string, string>()

  for (const candidate of rows) {
    const { path, row, key } = candidate
    const [holder, ...otherHolders] = (key !== undefined && holders.get(key)) || []
    const id = row.id ?? holder?.id ?? check.newId()
    check.ids.set(row, id)
    if (foreign.has(id)) check.report(`${path}.id`, 'is the id of a row of another organization')
    else if (leftOut.has(id)) check.report(`${path}.id`, `is the id of ${LEFT_OUT_NAMES[kind]}, which no import changes`)
    if (unique && holder && holder.id !== id) reportKey(check, kind, candidate, `is taken by the ${nounOf(kind)} ${holder.id}`)
    if (!row.id && otherHolders.length > 0)
      reportKey(check, kind, candidate, 'stands for several rows: give the id of one of them')
    reportDuplicate(check, kind, candidate, id, pathByKey)
  }
  return new Set([...ownRows.map(({ id }) => id), ...rows.map(({ row }) => check.ids.get(row)!)])
}

const reportKey = (check: ImportCheck, kind: MatchedKind, { path }: Candidate, message: string): void =>
  check.report(`${path}.${SOURCES[kind].keyField}`, message)

/** Reports a row with the same id as an earlier one, or with a natural key that can't belong to both. */
function reportDuplicate(
  check: ImportCheck,
  kind: MatchedKind,
  candidate: Candidate,
  id: string,
  pathByKey: Map<string, string>,
): void {
  const { path, row, key } = candidate
  const { noun, unique } = SOURCES[kind]
  const twin = check.usedIds[kind].get(id)
  if (twin !== undefined) check.report(row.id ? `${path}.id` : path, `is the same ${noun} as ${twin}`)
  else check.usedIds[kind].set(id, path)
  if (key === undefined || (row.id && !unique)) return
  const namesake = pathByKey.get(key)
  if (namesake !== undefined && namesake !== twin) reportKey(check, kind, candidate, `is taken by ${namesake}`)
  else pathByKey.set(key, path)
}

/** Rows with these ids or natural keys; for kinds that others refer to, all rows of the organization. */
async function findExisting(
  db: Connection,
  kind: MatchedKind,
  organizationId: string | null,
  rows: Candidate[],
): Promise<Existing[]> {
  const found = new Map<string, Existing>()
  const isMany = kind === 'invites' || kind === 'questions'
  for (const batch of isMany ? inBatches(rows, BATCH) : [rows]) {
    const ids = batch.flatMap(({ row }) => row.id ?? [])
    const keys = batch.flatMap((row) => row.key ?? [])
    const ofIds = rowsOf(db, kind).where('found.id', '=', anyOfIds(ids))
    const ofScope = inScope(rowsOf(db, kind), kind, organizationId, keys)
    for (const row of await ofIds.union(ofScope).execute()) found.set(row.id, row)
  }
  return [...found.values()]
}

const rowsOf = (db: Connection, kind: MatchedKind) =>
  unscoped(db).selectFrom(SOURCES[kind].rows).select(['found.id', 'found.owner', 'found.key', 'found.isLeftOut'])

function inScope(rows: ReturnType<typeof rowsOf>, kind: MatchedKind, organizationId: string | null, keys: string[]): typeof rows {
  if (organizationId === null) return rows.where('found.key', '=', sql<string>`any(${keys}::text[])`)
  const ownRows = rows.where('found.owner', '=', organizationId).where('found.isLeftOut', '=', false)
  const assessments = keys.map((key) => key.split(' ')[0]!)
  if (kind === 'questions') return ownRows.where('found.assessmentId', '=', anyOfIds([...new Set(assessments)]))
  if (kind !== 'invites') return ownRows
  const addresses = keys.map((key) => key.split(' ')[1]!)
  const importedPairs = sql`(select * from unnest(${assessments}::uuid[], ${addresses}::text[]))`
  return ownRows.where(({ ref }) => sql<boolean>`(${ref('found.assessmentId')}, ${ref('found.address')}) in ${importedPairs}`)
}
