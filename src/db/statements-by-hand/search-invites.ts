import type { RawBuilder } from 'kysely'
import { sql, type Tables } from '../builder.ts'
import { type Mode, project, type Selects, type TenantDb } from '../queries.ts'
import { type AsJson, jsonOf } from '../statements.ts'

// By hand: PostgreSQL is told so little of the values that it plans these once for all searches, which Kysely has no words for.

/** Number of newest addresses from which the frequency of a part is estimated. */
const SAMPLE = 100

/**
 * Facts that a search needs first. @property names sets of word positions, from 0, that occur together in an assessment's name.
 */
export type SearchFacts = { next: Date | null; sample: string[]; names: number[][] | null }

/**
 * Words that occur together in an assessment's name, the newest addresses, and the earliest expiry. The parameters come from the
 * CTE `asked`, where PostgreSQL doesn't plan by their values: planning took longer than the query.
 *
 * @param namePatterns of the words, for LIKE on keys of names.
 */
export const searchFacts = ({
  organizationId,
  mode,
  namePatterns,
}: Pick<Searched, 'organizationId' | 'mode' | 'namePatterns'>): RawBuilder<SearchFacts> =>
  sql<SearchFacts>`
    WITH asked AS MATERIALIZED (SELECT ${organizationId}::uuid AS id, ${namePatterns}::text[] AS patterns)
    SELECT
      (SELECT min(expires_at) FROM invites WHERE organization_id = ${organizationId}::uuid AND status IN ('pending', 'accepted')) AS next,
      ARRAY(
        SELECT recipient_email FROM invites WHERE organization_id = (SELECT id FROM asked) ${ofMode(mode)} ORDER BY sent_at DESC, id DESC LIMIT ${sql.lit(SAMPLE)}
      ) AS sample,
      (SELECT json_agg(DISTINCT ARRAY(
        SELECT nth - 1 FROM unnest((SELECT patterns FROM asked)::text[]) WITH ORDINALITY AS word (pattern, nth)
        WHERE name_search LIKE pattern ORDER BY nth
      )) FROM assessments WHERE organization_id = (SELECT id FROM asked) AND name_search LIKE ANY ((SELECT patterns FROM asked)::text[])) AS names`

/** Filter of a search: the organization's invites, and each word as a pattern for the key columns of names. */
export type Searched = {
  organizationId: string
  mode: Mode
  assessmentId?: string | undefined
  status?: string | undefined
  namePatterns: string[]
}
/**
 * Patterns of the words in assessment names, patterns of the remaining words in addresses, and the parts of these words that the index
 * looks up.
 */
export type Combination = {
  namePatterns: string[]
  addressPatterns: string[]
  parts: { word: string; first: number; last: number }[]
}
export type Paged = { field: keyof Tables['invites']; direction: 'asc' | 'desc'; size: number; number: number | 'last' }
export type FoundPage<Row> = { rows: AsJson<Row>[]; total: number; tooMany: boolean }

/**
 * A page of the invites that have each word in the address or in the assessment's name. If a name has all words, every invite of the
 * assessment matches: stored counts give their number, and an index in the list's order gives the first ones.
 *
 * @param mostByAddress with more matches by address the result is incomplete, and says so.
 */
export function searchInvites<Row>(
  db: TenantDb,
  searched: Searched,
  combinations: Combination[],
  { field, direction, size, number }: Paged,
  mostByAddress: number,
  show: Selects<'invites', Row>,
): RawBuilder<FoundPage<Row>> {
  const order = sql`${sql.ref(field)} ${sql.raw(direction)}, id ${sql.raw(direction)}`
  const byAddress = combinations.map((combination) => sql`(${selectByAddress(searched, combination, mostByAddress)})`)
  const skip =
    number === 'last' ? sql`greatest(0, (by_address + by_name - 1) / ${size}::int * ${size}::int)` : sql`${(number - 1) * size}`
  const found = db
    .selectFrom('invites')
    .where('invites.id', '=', sql<string>`any(array(SELECT id FROM found))`)
    .orderBy(`invites.${field}`, direction)
    .orderBy('invites.id', direction)
  return sql<FoundPage<Row>>`
    WITH named AS MATERIALIZED (${namedAfter(searched, searched.namePatterns)}),
    by_address AS MATERIALIZED (${sql.join(byAddress, sql` UNION `)}),
    counted AS MATERIALIZED (SELECT (SELECT count(*) FROM by_address) AS by_address, (${countOfNamed(searched)}) AS by_name),
    place AS MATERIALIZED (SELECT by_address, by_address + by_name AS total, ${skip}::bigint AS skip FROM counted),
    found AS MATERIALIZED (
      SELECT id FROM (
        SELECT * FROM by_address
        UNION ALL
        SELECT its.* FROM place CROSS JOIN named CROSS JOIN LATERAL (
          ${select(searched, sql`assessment_id = named.id`)}
          ORDER BY ${order} LIMIT CASE WHEN skip < total THEN skip + ${size} ELSE 0 END
        ) its
      ) matches ORDER BY ${order} OFFSET (SELECT skip FROM place) LIMIT ${size}
    )
    SELECT (SELECT total::int FROM place) AS total, (SELECT by_address > ${mostByAddress} FROM place) AS "tooMany",
      ${jsonOf(project(db, found, 'invites', show))} AS rows`
}

const ofMode = (mode: Mode) => (mode === 'all' ? sql`` : sql`AND mode = ${sql.lit(mode)}`)

/** Ids of the assessments whose names have all of these words. */
const namedAfter = ({ organizationId, assessmentId }: Searched, patterns: string[]) => sql`
  SELECT id FROM assessments WHERE organization_id = ${organizationId}::uuid AND name_search LIKE ALL (${patterns}::text[])
    ${assessmentId === undefined ? sql`` : sql`AND id = ${assessmentId}::uuid`}`

/** Invites of other assessments, whose addresses have the words that the assessments' names lack. */
function selectByAddress(
  searched: Searched,
  { namePatterns, addressPatterns, parts }: Combination,
  mostByAddress: number,
): RawBuilder<unknown> {
  // The grams of a part are among those of the word, in lower case as well.
  const grams = parts.map(
    ({ word, first, last }) =>
      sql`(address_grams(${searched.organizationId}::uuid, ${word}))[${first + 1}::int:${last + 1}::int]`,
  )
  const ofNames = namePatterns.length === 0 ? sql`` : sql`AND assessment_id IN (${namedAfter(searched, namePatterns)})`
  const condition = sql`
    address_key(recipient_email) LIKE ALL (${addressPatterns}::text[]) AND assessment_id NOT IN (SELECT id FROM named) ${ofNames}
    LIMIT ${sql.lit(mostByAddress + 1)}`
  return sql`
    WITH part AS MATERIALIZED (SELECT ${sql.join(grams, sql` || `)} AS grams)
    ${select(searched, condition, WITH_GRAMS)}`
}

/**
 * `invites i` that have the grams of `part`, by the index alone. The subselect hides the condition from PostgreSQL's planner, so that one
 * plan serves all searches, without parallel workers: planning each search took longer than most searches do.
 */
const WITH_GRAMS = sql`part CROSS JOIN LATERAL (
  SELECT * FROM invites WHERE address_grams(organization_id, recipient_email) @> part.grams OFFSET 0
) i`

/** Invites that match the filter and the condition. */
const select = (
  { organizationId, mode, assessmentId, status }: Searched,
  condition: RawBuilder<unknown>,
  invites = sql`invites i`,
): RawBuilder<unknown> => sql`
  SELECT i.id, i.sent_at, i.expires_at, i.created_at, i.status FROM ${invites}
  WHERE organization_id = ${organizationId}::uuid ${ofMode(mode)}
    ${assessmentId === undefined ? sql`` : sql`AND assessment_id = ${assessmentId}::uuid`}
    ${status === undefined ? sql`` : sql`AND status = ${status}::invite_status`}
    AND ${condition}`

/** Number of invites to assessments whose names contain all words. */
const countOfNamed = ({ organizationId, mode, status }: Searched) => sql`
  SELECT coalesce(sum(count), 0) FROM assessment_invite_counts
  WHERE organization_id = ${organizationId}::uuid ${ofMode(mode)} AND assessment_id IN (SELECT id FROM named)
    ${status === undefined ? sql`` : sql`AND status = ${status}::invite_status`}`
