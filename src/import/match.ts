import type { Transaction } from '../db/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { inBatches } from './batches.ts'
import type { Problem } from './problems.ts'

/** What a document holds, in the order in which it is loaded: each refers only to what stands before it. */
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
/** Languages are matched by themselves. */
type MatchedKind = Exclude<Kind, 'languages'>

/** A row of the document that the schema has let through, perhaps in part. `key` is its natural key, as the database would fold it. */
export type Found<T> = { path: string; row: Partial<T> }
export type Candidate = Found<{ id: string }> & { key: string | undefined }

/** What the checks share: where they look, and what they have found out so far. */
export type Check = {
  db: Transaction
  newId: () => string
  /** Notes a problem; the first one of a path is the one that counts. */
  report: (path: string, message: string) => void
  /** The id that each row of the document has, or will have, in the database. */
  ids: Map<object, string>
  /** Where the document uses an id: ids are unique over all organizations. */
  usedIds: Record<MatchedKind, Map<string, string>>
}

export function startCheck(db: Transaction, newId: () => string): { check: Check; problems: () => Problem[] } {
  const found = new Map<string, string>()
  const report = (path: string, message: string) => void (found.has(path) || found.set(path, message))
  const usedIds = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as Check['usedIds']
  const problems = () => [...found].map(([path, message]) => ({ path, message }))
  return { check: { db, newId, report, ids: new Map(), usedIds }, problems }
}

/** The rows of a list; what the schema refused as a whole has left a hole. */
export const rowsIn = <T extends object>(list: readonly T[] | undefined, path: string): Found<T>[] =>
  (list ?? []).flatMap((row, index) => (row ? [{ path: `${path}[${index}]`, row }] : []))

/** Rows a query. */
const BATCH = 5_000

type Source = {
  noun: string
  table: Prisma.Sql
  owner: Prisma.Sql
  key: Prisma.Sql
  keyField: string
  /** Whether the database refuses a second row of the same natural key. */
  unique: boolean
}
type Existing = { id: string; owner: string | null; key: string }

const source = (noun: string, table: string, key: string, keyField: string, { unique = true, owned = true } = {}): Source => ({
  noun,
  table: Prisma.raw(table),
  owner: Prisma.raw(owned ? 'organization_id' : 'NULL::uuid'),
  key: Prisma.raw(key),
  keyField,
  unique,
})

const SOURCES: Record<MatchedKind, Source> = {
  organizations: source('organization', 'organizations', 'lower(name)', 'name', { owned: false }),
  categories: source('category', 'categories', 'name', 'name'),
  instructions: source('instruction', 'instructions', "title || E'\\n' || body", 'body', { unique: false }),
  members: source('member', 'members', 'lower(email)', 'email'),
  apiKeys: source('API key', 'api_keys', 'name', 'name'),
  tags: source('tag', 'tags', 'lower(name)', 'name'),
  assessments: source('assessment', 'assessments', 'name', 'name', { unique: false }),
  questions: source('question', 'questions', `assessment_id || ' ' || "order"`, 'order', { unique: false }),
  invites: source('invite', 'invites', `assessment_id || ' ' || lower(recipient_email)`, 'recipientEmail'),
}

export const nounOf = (kind: MatchedKind): string => SOURCES[kind].noun

/** Natural key of a row of an assessment, as SOURCES has the database write it. */
export const keyWithin = (assessmentId: string | undefined, key: string | number | undefined): string | undefined =>
  assessmentId === undefined || key === undefined ? undefined : `${assessmentId} ${key}`

/** Lower case as the database's own unique indexes see it: its locale's idea of it may differ from JavaScript's. */
export async function foldCase(
  db: Transaction,
  texts: (string | undefined)[],
): Promise<(text: string | undefined) => string | undefined> {
  const distinct = [...new Set(texts.filter((text) => text !== undefined))]
  const rows = await db.$queryRaw<{ text: string; folded: string }[]>`
    SELECT text, lower(text) AS folded FROM unnest(${distinct}::text[]) AS text`
  const folded = new Map(rows.map((row) => [row.text, row.folded]))
  return (text) => (text === undefined ? undefined : folded.get(text))
}

/**
 * Finds the row of the database that each row of a list stands for: the one of its id; without an id, the one of its natural key that
 * no other row of the list names by its id. A row that is new gets an id. Reports ids that are used twice or are another
 * organization's, and natural keys that stand for more than one row, or are taken where they must be unique.
 *
 * @param organizationId null for what belongs to no organization.
 * @returns the ids of the list's kind that the organization has, or will have.
 */
export async function matchRows(
  check: Check,
  kind: MatchedKind,
  organizationId: string | null,
  rows: Candidate[],
): Promise<Set<string>> {
  const { unique } = SOURCES[kind]
  const existing = await findExisting(check.db, kind, organizationId, rows)
  const own = existing.filter(({ owner }) => owner === organizationId)
  const foreign = new Set(existing.filter(({ owner }) => owner !== organizationId).map(({ id }) => id))
  const given = new Set(rows.map(({ row }) => row.id))
  const holders = Map.groupBy(
    own.filter(({ id }) => unique || !given.has(id)),
    ({ key }) => key,
  )
  const pathByKey = new Map<string, string>()

  for (const candidate of rows) {
    const { path, row, key } = candidate
    const [holder, ...others] = (key !== undefined && holders.get(key)) || []
    const id = row.id ?? holder?.id ?? check.newId()
    check.ids.set(row, id)
    if (foreign.has(id)) check.report(`${path}.id`, 'is the id of a row of another organization')
    if (unique && holder && holder.id !== id) reportKey(check, kind, candidate, `is taken by the ${nounOf(kind)} ${holder.id}`)
    if (!row.id && others.length > 0) reportKey(check, kind, candidate, 'stands for several rows: give the id of one of them')
    reportTwin(check, kind, candidate, id, pathByKey)
  }
  return new Set([...own.map(({ id }) => id), ...rows.map(({ row }) => check.ids.get(row)!)])
}

const reportKey = (check: Check, kind: MatchedKind, { path }: Candidate, message: string): void =>
  check.report(`${path}.${SOURCES[kind].keyField}`, message)

/** Reports a row that repeats the id of an earlier one, or a natural key that can't stand for both. */
function reportTwin(check: Check, kind: MatchedKind, candidate: Candidate, id: string, pathByKey: Map<string, string>): void {
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

/** Whatever the rows' ids and natural keys already stand for; of kinds that others refer to, all rows of the organization. */
async function findExisting(
  db: Transaction,
  kind: MatchedKind,
  organizationId: string | null,
  rows: Candidate[],
): Promise<Existing[]> {
  const { table, owner, key } = SOURCES[kind]
  const found = new Map<string, Existing>()
  const isMany = kind === 'invites' || kind === 'questions'
  for (const batch of isMany ? inBatches(rows, BATCH) : [rows]) {
    const ids = batch.flatMap(({ row }) => row.id ?? [])
    const keys = batch.flatMap((row) => row.key ?? [])
    const existing = await db.$queryRaw<Existing[]>`
      SELECT id, ${owner} AS owner, ${key} AS key FROM ${table} WHERE id = ANY(${ids}::uuid[])
      UNION
      SELECT id, ${owner} AS owner, ${key} AS key FROM ${table} WHERE ${scopeOf(kind, organizationId, keys)}`
    for (const row of existing) found.set(row.id, row)
  }
  return [...found.values()]
}

function scopeOf(kind: MatchedKind, organizationId: string | null, keys: string[]): Prisma.Sql {
  if (organizationId === null) return Prisma.sql`${SOURCES[kind].key} = ANY(${keys}::text[])`
  const own = Prisma.sql`organization_id = ${organizationId}::uuid`
  const assessments = keys.map((key) => key.split(' ')[0]!)
  if (kind === 'questions') return Prisma.sql`${own} AND assessment_id = ANY(${[...new Set(assessments)]}::uuid[])`
  if (kind !== 'invites') return own
  const addresses = keys.map((key) => key.split(' ')[1]!)
  return Prisma.sql`${own} AND (assessment_id, lower(recipient_email)) IN (
    SELECT * FROM unnest(${assessments}::uuid[], ${addresses}::text[]))`
}
