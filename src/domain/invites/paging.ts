import { queryRows } from '../../db/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { readWords } from '../filters.ts'
import { type Conditions, ownRows, window } from '../listing.ts'
import type { Window } from '../page.ts'
import type { CountedFilter, InviteFilter, InviteOrder } from './filter.ts'
import { nextExpiry } from './lifecycle.ts'

// Counts and pages in SQL where Prisma would count or skip rows one by one: an organization may have a million invites. The counters are
// maintained by triggers of the migrations invite_counts and tag_invite_counts, what a tag's invites are ordered by is by one of
// invite_tags_orders.

/** The column of each field that a list can be ordered by. */
const COLUMNS = {
  sentAt: 'sent_at',
  status: 'status',
  expiresAt: 'expires_at',
  createdAt: 'created_at',
} as const satisfies Record<InviteOrder['field'], string>

/** Those that the rows of a tag have, too. */
const TAGGED: readonly InviteOrder['field'][] = ['sentAt', 'status', 'expiresAt']

/** Whether there are kept counts and an order for all of the filter. */
export function isCounted(filter: InviteFilter, { field }: InviteOrder): boolean {
  const { tagId, assessmentId, recipientEmail, recipient, assignedGraderId, search } = filter
  if (recipientEmail !== undefined || assignedGraderId !== undefined) return false
  if (readWords(search).length > 0 || readWords(recipient).length > 0) return false
  return tagId === undefined || (assessmentId === undefined && TAGGED.includes(field))
}

/** SQL: these columns, of `invites i`. Without the status, which depends on the clock. */
export const orderedColumns = Prisma.raw(
  Object.values(COLUMNS)
    .filter((column) => column !== COLUMNS.status)
    .map((column) => `i.${column}`)
    .join(', '),
)

/**
 * The number of invites that match the filter now: the sum of a few counters that a trigger maintains, however many invites there are.
 *
 * @returns null while an invite is due but not set to expired yet: the counters are then out of date.
 */
export async function countInvites(ctx: Context, filter: CountedFilter): Promise<number | null> {
  const [counted] = await queryRows<Counted>(ctx.db, Prisma.sql`SELECT ${counts(ctx, filter)}`)
  return totalAt(ctx, counted!)
}

/** What the counters say, and the earliest expiry. */
export type Counted = { total: number; next: Date | null }

/** SQL: that. */
export const counts = (ctx: Context, filter: CountedFilter): Prisma.Sql =>
  Prisma.sql`(${counted(ctx, filter)}) AS total, (${nextExpiry(ctx)}) AS next`

/** @returns null while an invite is due but not set to expired yet: the counters are then out of date. */
export const totalAt = ({ deps }: Context, { total, next }: Counted): number | null =>
  next && next <= deps.clock() ? null : total

/** SQL, `WHERE …`: the organization's invites that match the filter by what is stored, but for the tag. */
export const storedInvites = (ctx: Context, filter: CountedFilter): Prisma.Sql => ownRows(ctx, conditions(filter))

const conditions = ({ assessmentId, status }: CountedFilter): Conditions => [
  assessmentId !== undefined && Prisma.sql`assessment_id = ${assessmentId}::uuid`,
  status !== undefined && Prisma.sql`status = ${status}::invite_status`,
]

/** SQL: the rows that put the invites that match the filter in order: themselves, or those of the tag. */
function orderedRows(ctx: Context, { tagId, ...filter }: CountedFilter): Prisma.Sql {
  if (tagId === undefined) return Prisma.sql`invites ${storedInvites(ctx, filter)}`
  const ofTag = ownRows(ctx, [Prisma.sql`tag_id = ${tagId}::uuid`, ...conditions(filter)])
  return Prisma.sql`(SELECT invite_id AS id, status, sent_at, expires_at FROM invite_tags ${ofTag}) tagged`
}

/** SQL, `WHERE …`: a page near the beginning, in the list's order. */
export function firstPage(
  ctx: Context,
  filter: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
): Prisma.Sql {
  const by = orderBy(field, direction)
  const page = Prisma.sql`ORDER BY ${by} ${window(skip, take)}`
  if (filter.tagId === undefined) return Prisma.sql`${storedInvites(ctx, filter)} ${page}`
  const ids = Prisma.sql`SELECT id FROM ${orderedRows(ctx, filter)} ${page}`
  return Prisma.sql`${ownRows(ctx, [Prisma.sql`id = ANY (ARRAY(${ids}))`])} ORDER BY ${by}`
}

/**
 * The ids of a page far from the beginning, in the list's order. An index has them in that order, so that the skipped rows are not read;
 * in the second half of the list they are counted from the end. The statement counts the rows itself, so that rows added in the meantime
 * do not move the page.
 */
export async function findDistantIds(
  ctx: Context,
  filter: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
  total: number,
): Promise<string[]> {
  const fromEnd = skip > total / 2
  const by = orderBy(field, (direction === 'asc') !== fromEnd ? 'asc' : 'desc')
  const left = Prisma.sql`(${counted(ctx, filter)}) - ${skip}`
  const window = fromEnd
    ? Prisma.sql`OFFSET greatest(0, ${left} - ${take}) LIMIT least(${take}, greatest(0, ${left}))`
    : Prisma.sql`OFFSET ${skip} LIMIT ${take}`
  const statement = Prisma.sql`SELECT id FROM ${orderedRows(ctx, filter)} ORDER BY ${by} ${window}`
  const ids = (await queryRows<{ id: string }>(ctx.db, statement)).map(({ id }) => id)
  return fromEnd ? ids.reverse() : ids
}

/** SQL: the column that an order goes by. */
export const columnOf = ({ field }: InviteOrder): Prisma.Sql => Prisma.raw(COLUMNS[field])

/** SQL. */
export const orderBy = (field: InviteOrder['field'], direction: InviteOrder['direction']): Prisma.Sql =>
  Prisma.raw(`${COLUMNS[field]} ${direction}, id ${direction}`)

function counted(ctx: Context, { assessmentId, status, tagId }: CountedFilter): Prisma.Sql {
  const sumOf = (table: string, ...conditions: Conditions) =>
    Prisma.sql`SELECT coalesce(sum(count), 0)::int FROM ${Prisma.raw(table)} ${ownRows(ctx, conditions)}`
  const ofStatus = status !== undefined && Prisma.sql`status = ${status}::invite_status`
  if (assessmentId !== undefined)
    return sumOf('assessment_invite_counts', Prisma.sql`assessment_id = ${assessmentId}::uuid`, ofStatus)
  if (tagId === undefined) return sumOf('organization_invite_counts', ofStatus)
  const ofTag = Prisma.sql`tag_id = ${tagId}::uuid`
  // Of one state they are counted, by an index of these alone.
  return ofStatus
    ? Prisma.sql`SELECT count(*)::int FROM invite_tags ${ownRows(ctx, [ofTag, ofStatus])}`
    : sumOf('tag_invite_counts', ofTag)
}
