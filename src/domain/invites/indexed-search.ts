import { queryRows } from '../../db/client.ts'
import { containing } from '../../db/query.ts'
import { readRowsAnd, type Shape } from '../../db/rows.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { readWords } from '../filters.ts'
import { ownRows, skipped } from '../listing.ts'
import { type Listing, type Page, pageNumber } from '../page.ts'
import type { InviteFilter, InviteOrder } from './filter.ts'
import { expireDueInvites, nextExpiry } from './lifecycle.ts'
import { orderBy, orderedColumns } from './paging.ts'
import { chooseParts, type Part } from './search-parts.ts'

// A search that costs what it finds, not what the organization has. Each word is in the recipient's address or in the assessment's name.
// The names have few combinations of the words: for each, the invites whose addresses have the other words are found by the index of
// parts of addresses (migration address_grams). Where a name has all of the words, every invite of the assessment matches: the kept counts
// know how many those are, and the first of them are taken from an index in the list's order.

/** Of a list's filters, those that the kept counts know. */
export type SearchFilter = Pick<InviteFilter, 'assessmentId' | 'status' | 'search'>

/** More matches by address than this are found as well by reading all invites. */
const MOST_BY_ADDRESS = 10_000
/** Names that have more combinations of the words are not to be expected. */
const MOST_COMBINATIONS = 8
/** So many of the newest addresses tell what is frequent. */
const SAMPLE = 100

/** Words that are in the assessment's name, the others, and the parts of these that the index is asked for. */
type Combination = { named: string[]; others: string[]; parts: Part[] }
type Facts = { total: number; tooMany: boolean }

/**
 * A page of what a search finds. Goes by the stored status, so invites that are due are first set to expired.
 *
 * @returns null where the index does not help: no word that has to be in the address is as long as three characters, or too many addresses
 *   have the words. Also where a due invite can't be set to expired, because another transaction has locked it.
 */
export async function listFound<Row>(
  ctx: Context,
  shape: Shape<Row>,
  filter: SearchFilter,
  order: InviteOrder,
  page: Page,
): Promise<Listing<Row> | null> {
  const words = readWords(filter.search)
  const combinations = (await readCombinations(ctx, words)) ?? (await readAfterExpiry(ctx, words))
  if (!combinations) return null
  if (combinations.length > MOST_COMBINATIONS || combinations.some(({ parts }) => parts.length === 0)) return null
  const byAddress = combinations.map((combination) => Prisma.sql`(${selectByAddress(ctx, filter, combination)})`)
  const by = orderBy(order.field, order.direction)
  const skip = skipped(page, Prisma.sql`(by_address + by_name)`)
  const found = Prisma.sql`
    WITH named AS MATERIALIZED (${namedAfter(ctx, words, filter)}),
    by_address AS MATERIALIZED (${Prisma.join(byAddress, ' UNION ')}),
    counted AS MATERIALIZED (SELECT (SELECT count(*) FROM by_address) AS by_address, (${countOfNamed(ctx, filter)}) AS by_name),
    place AS MATERIALIZED (SELECT by_address, by_address + by_name AS total, ${skip}::bigint AS skip FROM counted),
    found AS MATERIALIZED (
      SELECT id FROM (
        SELECT * FROM by_address
        UNION ALL
        SELECT its.* FROM place CROSS JOIN named CROSS JOIN LATERAL (
          ${select(ctx, filter, Prisma.sql`assessment_id = named.id`)}
          ORDER BY ${by} LIMIT CASE WHEN skip < total THEN skip + ${page.size} ELSE 0 END
        ) its
      ) matches ORDER BY ${by} OFFSET (SELECT skip FROM place) LIMIT ${page.size}
    )`
  const which = Prisma.sql`${ownRows(ctx, [Prisma.sql`id = ANY (ARRAY(SELECT id FROM found))`])} ORDER BY ${by}`
  const facts = Prisma.sql`(SELECT total::int FROM place) AS total, (SELECT by_address > ${MOST_BY_ADDRESS} FROM place) AS "tooMany"`
  const { rows, total, tooMany } = await readRowsAnd<Row, Facts>(ctx.db, shape, which, facts, found)
  if (tooMany) return null
  return { items: rows, total, page: pageNumber(page, total), pageSize: page.size }
}

async function readAfterExpiry(ctx: Context, words: string[]): Promise<Combination[] | null> {
  await expireDueInvites(ctx)
  return readCombinations(ctx, words)
}

/**
 * Which words are in names, and what to ask the index for: for all words, and for those that each combination in a name leaves.
 *
 * The statement has its values by `asked`, where PostgreSQL does not look for them: to plan by them took longer than to answer.
 *
 * @returns null while an invite is due but not set to expired yet.
 */
async function readCombinations(ctx: Context, words: string[]): Promise<Combination[] | null> {
  const id = Prisma.sql`(SELECT id FROM asked)`
  const patterns = Prisma.sql`(SELECT patterns FROM asked)::text[]`
  const [found] = await queryRows<{ next: Date | null; sample: string[]; names: number[][] | null }>(
    ctx.db,
    Prisma.sql`
    WITH asked AS MATERIALIZED (SELECT ${ctx.organization.id}::uuid AS id, ${words.map(containing)}::text[] AS patterns)
    SELECT
      (${nextExpiry(ctx)}) AS next,
      ARRAY(SELECT recipient_email FROM invites WHERE organization_id = ${id} ORDER BY sent_at DESC, id DESC LIMIT ${Prisma.raw(String(SAMPLE))}) AS sample,
      (SELECT json_agg(DISTINCT ARRAY(
        SELECT nth - 1 FROM unnest(${patterns}) WITH ORDINALITY AS word (pattern, nth) WHERE name ILIKE pattern ORDER BY nth
      )) FROM assessments WHERE organization_id = ${id} AND name ILIKE ANY (${patterns})) AS names`,
  )
  const { next, sample, names } = found!
  if (next && next <= ctx.deps.clock()) return null
  return [[], ...(names ?? [])]
    .map((numbers) => ({
      named: words.filter((_, i) => numbers.includes(i)),
      others: words.filter((_, i) => !numbers.includes(i)),
    }))
    .filter(({ others }) => others.length > 0)
    .map((combination) => ({ ...combination, parts: chooseParts(combination.others, sample) }))
}

/** SQL: the ids of the assessments whose names have all of these words. */
const namedAfter = ({ organization }: Context, words: string[], { assessmentId }: SearchFilter): Prisma.Sql => Prisma.sql`
  SELECT id FROM assessments WHERE organization_id = ${organization.id}::uuid AND name ILIKE ALL (${words.map(containing)}::text[])
    ${assessmentId === undefined ? Prisma.empty : Prisma.sql`AND id = ${assessmentId}::uuid`}`

/** SQL: the invites of the other assessments whose addresses have the words that these assessments' names lack. */
function selectByAddress(ctx: Context, filter: SearchFilter, { named, others, parts }: Combination): Prisma.Sql {
  // The grams of a part are among those of the word, in lower case as well.
  const grams = parts.map(
    ({ word, first, last }) =>
      Prisma.sql`(address_grams(${ctx.organization.id}::uuid, ${word}))[${first + 1}::int:${last + 1}::int]`,
  )
  const ofNames = named.length === 0 ? Prisma.empty : Prisma.sql`AND assessment_id IN (${namedAfter(ctx, named, filter)})`
  const condition = Prisma.sql`
    recipient_email ILIKE ALL (${others.map(containing)}::text[]) AND assessment_id NOT IN (SELECT id FROM named) ${ofNames}
    LIMIT ${Prisma.raw(String(MOST_BY_ADDRESS + 1))}`
  return Prisma.sql`
    WITH part AS MATERIALIZED (SELECT ${Prisma.join(grams, ' || ')} AS grams)
    ${select(ctx, filter, condition, withGrams)}`
}

/**
 * SQL: `invites i` that have the grams of `part`, by the index alone. PostgreSQL is told so little about them that it plans for any search
 * at once, and that without processes beside it: to plan for each took longer than most searches do.
 */
const withGrams = Prisma.sql`part CROSS JOIN LATERAL (
  SELECT * FROM invites WHERE address_grams(organization_id, recipient_email) @> part.grams OFFSET 0
) i`

/** SQL: of the organization's invites that match the filter, those that meet the condition. */
const select = (
  { organization }: Context,
  { assessmentId, status }: SearchFilter,
  condition: Prisma.Sql,
  invites = Prisma.sql`invites i`,
): Prisma.Sql => Prisma.sql`
  SELECT i.id, ${orderedColumns}, status FROM ${invites}
  WHERE organization_id = ${organization.id}::uuid
    ${assessmentId === undefined ? Prisma.empty : Prisma.sql`AND assessment_id = ${assessmentId}::uuid`}
    ${status === undefined ? Prisma.empty : Prisma.sql`AND status = ${status}::invite_status`}
    AND ${condition}`

/** SQL: how many invites the assessments have whose names have all of the words. */
const countOfNamed = ({ organization }: Context, { status }: SearchFilter): Prisma.Sql => Prisma.sql`
  SELECT coalesce(sum(count), 0) FROM assessment_invite_counts
  WHERE organization_id = ${organization.id}::uuid AND assessment_id IN (SELECT id FROM named)
    ${status === undefined ? Prisma.empty : Prisma.sql`AND status = ${status}::invite_status`}`
