import { untilGone } from '../../db/client.ts'
import { inGivenOrder, readRowsAnd, readRowsInOrder, type Shape, shapeOf } from '../../db/rows.ts'
import { type Invite as InviteRow, type InviteStatus, type Member, Prisma, type User } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { type Listing, readPage, type Window } from '../page.ts'
import { findById } from '../shared-query.ts'
import { isUuid } from '../uuid.ts'
import type { CountedFilter, InviteFilter, InviteOrder } from './filter.ts'
import { listFound } from './indexed-search.ts'
import { asOfNow, expireDueInvites } from './lifecycle.ts'
import { type Counted, countInvites, counts, findDistantIds, firstPage, isCounted, storedInvites, totalAt } from './paging.ts'
import { type List, type Listed, listMatches, narrows } from './search.ts'
import { authorizeInvites } from './visibility.ts'

export type { InviteFilter, InviteOrder, InviteStatus }
export const INVITE_STATUSES = [
  'pending',
  'accepted',
  'started',
  'completed',
  'expired',
  'revoked',
] as const satisfies InviteStatus[]

/** An invite with its assessment's name and the ids of its tags. */
export type Invite = InviteRow & { assessmentName: string; tagIds: string[] }
/** The same with the grader's account. */
export type InviteDetail = Invite & {
  assignedGrader:
    | (Pick<Member, 'id' | 'email' | 'status' | 'roles'> & { user: Pick<User, 'firstName' | 'lastName' | 'email'> })
    | null
}

const times = {
  sentAt: true,
  expiresAt: true,
  acceptedAt: true,
  startedAt: true,
  completedAt: true,
  revokedAt: true,
  declinedAt: true,
  createdAt: true,
  updatedAt: true,
} as const
const related = {
  assessmentName: '(SELECT name FROM assessments WHERE organization_id = own.organization_id AND id = own.assessment_id)',
  tagIds: inGivenOrder('tag_id', 'invite_tags', 'invite_id = own.id'),
}
const assignedGrader = `(SELECT json_build_object('id', members.id, 'email', members.email, 'status', members.status, 'roles', members.roles,
    'user', json_build_object('firstName', first_name, 'lastName', last_name, 'email', users.email))
  FROM members JOIN users ON users.id = user_id WHERE organization_id = own.organization_id AND members.id = own.assigned_grader_id)`
export const wholeInvite = shapeOf<Invite>('invites', Prisma.InviteScalarFieldEnum, times, related)
const detailShape = shapeOf<InviteDetail>('invites', Prisma.InviteScalarFieldEnum, times, { ...related, assignedGrader })

/** From this offset on it is cheaper to find the ids first. */
const DISTANT = 1_000

/**
 * v1.md GET /invites; alternate.md GET /assessment_invites.
 *
 * Filter, order and count use the stored status, so invites that are due are first set to expired. When one cannot be, because another
 * transaction has locked it, the list is computed from every row of the organization, as for a search that the index does not help with.
 * Under a filter by recipient or grader, or by tag together with others than the status, it is computed from the rows that the filter finds.
 *
 * @throws DomainError not_permitted, see authorizeInvites; invalid for a filter beyond its limits; too_many_searches.
 */
export const listInvites: List<InviteFilter> = async (ctx, of, filter, order, page) => {
  await authorizeInvites(ctx, filter)
  refuseExcess(filter)
  if (isCounted(filter, order)) {
    const list = await listCurrent(ctx, of, filter, order, page)
    if (list) return list
  }
  const searching = { ...ctx, db: untilGone(ctx.db, ctx.onGone) }
  const found = isFound(filter) ? await listFound(searching, of, filter, order, page) : null
  return found ?? listMatches(searching, of, filter, order, page)
}

/** Whether the index of addresses is of use. */
const isFound = (filter: InviteFilter): boolean =>
  readWords(filter.search).length > 0 && readWords(filter.recipient).length === 0 && !narrows(filter)

/** After setting due invites to expired. @returns null when a due invite could not be set. */
const listCurrent: List<CountedFilter, null> = async (ctx, of, filter, order, page) => {
  const list = await listStored(ctx, of, filter, order, page)
  if (list) return list
  await expireDueInvites(ctx)
  return listStored(ctx, of, filter, order, page)
}

/** @returns null while an invite is due but not set to expired yet. */
const listStored: List<CountedFilter, null> = async (ctx, of, filter, order, page) => {
  const skip = page.number === 'last' ? Infinity : (page.number - 1) * page.size
  if (skip < DISTANT) return listFirst(ctx, of, filter, order, { skip, take: page.size })
  const total = await countInvites(ctx, filter)
  if (total === null) return null
  const find = async (window: Window) => findInOrder(ctx, of, filter, await findDistantIds(ctx, filter, order, window, total))
  return readPage(page, async () => total, find)
}

/** A page near the beginning, by one statement. */
async function listFirst<Row extends Listed>(
  ctx: Context,
  of: Shape<Row>,
  filter: CountedFilter,
  order: InviteOrder,
  { skip, take }: Window,
): Promise<Listing<Row> | null> {
  const which = firstPage(ctx, filter, order, { skip, take })
  const { rows, ...counted } = await readRowsAnd<Row, Counted>(ctx.db, of, which, counts(ctx, filter))
  const total = totalAt(ctx, counted)
  return total === null ? null : { items: rows, total, page: skip / take + 1, pageSize: take }
}

const findInOrder = <Row extends Listed>(ctx: Context, of: Shape<Row>, filter: CountedFilter, ids: string[]): Promise<Row[]> =>
  readRowsInOrder(ctx.db, of, storedInvites(ctx, filter), ids)

/** v1.md GET /invites/{inviteId}; alternate.md GET /assessment_invites/{id}. @throws DomainError invite_not_found, not_permitted. */
export async function getInvite(ctx: Context, id: string): Promise<InviteDetail> {
  const [invite] = await findDetails(ctx, [id])
  if (!invite) throw new DomainError('invite_not_found')
  await authorizeInvites(ctx, invite)
  return asOfNow(invite, ctx.deps.clock())
}

const findDetails = findById(detailShape)

/** @throws DomainError invite_not_found, not_permitted. */
export async function requireInvite(ctx: Context, id: string): Promise<void> {
  if (!isUuid(id)) throw new DomainError('invite_not_found')
  const where = { organizationId: ctx.organization.id, id }
  const invite = await ctx.db.invite.findFirst({ where, select: { assessmentId: true, assignedGraderId: true } })
  if (!invite) throw new DomainError('invite_not_found')
  await authorizeInvites(ctx, invite)
}
