import { anyOf } from '../../db/query.ts'
import type { InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { defined } from '../defined.ts'
import { DomainError } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { type Listing, type Page, pageCount, readPage, totalOrder, type Window } from '../page.ts'
import { shareQuery } from '../shared-query.ts'
import { isUuid } from '../uuid.ts'
import type { CountedFilter, InviteFilter, InviteOrder } from './filter.ts'
import { findByWords } from './indexed-search.ts'
import { asOfNow, expireDueInvites } from './lifecycle.ts'
import { countInvites, findDistantIds } from './paging.ts'
import { countMatches, findMatchingIds, selectMatches } from './search.ts'
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

/** The related rows that every representation of an invite needs. */
const include = {
  assessment: { select: { name: true } },
  tags: { select: { tagId: true }, orderBy: { position: 'asc' } },
} satisfies Prisma.InviteInclude
const detailInclude = { ...include, assignedGrader: { include: { user: true } } } satisfies Prisma.InviteInclude

/** An invite with its assessment's name and the ids of its tags. */
export type Invite = Prisma.InviteGetPayload<{ include: typeof include }>
/** The same with the grader's account. */
export type InviteDetail = Prisma.InviteGetPayload<{ include: typeof detailInclude }>

/** From this offset on it is cheaper to find the ids first. */
const DISTANT = 1_000

/**
 * v1.md GET /invites; alternate.md GET /assessment_invites.
 *
 * Filter, order and count use the stored status, so invites that are due are first set to expired. When one cannot be, because another
 * transaction has locked it, the list is computed from every row of the organization, as for a search that the index does not help with.
 * Under a filter by recipient, tag or grader it is computed from the rows that the filter finds.
 *
 * @throws DomainError not_permitted, see authorizeInvites; invalid for a filter beyond its limits.
 */
export async function listInvites(ctx: Context, filter: InviteFilter, order: InviteOrder, page: Page): Promise<Listing<Invite>> {
  await authorizeInvites(ctx, filter)
  refuseExcess(filter)
  if (narrows(filter)) return listMatches(ctx, filter, order, page)
  if (readWords(filter.search).length > 0)
    return (await listFound(ctx, filter, order, page)) ?? listMatches(ctx, filter, order, page)
  const total = await countCurrent(ctx, filter)
  if (total === null) return listMatches(ctx, filter, order, page)
  return readPage(
    page,
    async () => total,
    (window) =>
      window.skip < DISTANT ? findInvites(ctx, filter, order, window) : findDistantInvites(ctx, filter, order, window, total),
  )
}

/** To what the kept counts do not know. */
const narrows = ({ tagId, recipientEmail, assignedGraderId }: InviteFilter): boolean =>
  [tagId, recipientEmail, assignedGraderId].some((value) => value !== undefined)

/** Counts after setting due invites to expired. @returns null when a due invite could not be set. */
async function countCurrent(ctx: Context, filter: CountedFilter): Promise<number | null> {
  const total = await countInvites(ctx, filter)
  if (total !== null) return total
  await expireDueInvites(ctx)
  return countInvites(ctx, filter)
}

function findInvites(ctx: Context, filter: CountedFilter, order: InviteOrder, window: Window): Promise<Invite[]> {
  const where = toWhere(ctx, filter)
  return ctx.db.invite.findMany({ where, orderBy: totalOrder(order), include, relationLoadStrategy: 'join', ...window })
}

async function findDistantInvites(ctx: Context, filter: CountedFilter, order: InviteOrder, window: Window, total: number) {
  const ids = await findDistantIds(ctx, filter, order, window, total)
  return findInOrder(ctx, filter, ids)
}

async function listFound(ctx: Context, filter: InviteFilter, order: InviteOrder, page: Page): Promise<Listing<Invite> | null> {
  const found = await findByWords(ctx, filter, order, page)
  if (!found) return null
  const { ids, total } = found
  const number = page.number === 'last' ? Math.max(1, pageCount(total, page.size)) : page.number
  return { items: await findInOrder(ctx, {}, ids), total, page: number, pageSize: page.size }
}

function listMatches(ctx: Context, filter: InviteFilter, order: InviteOrder, page: Page): Promise<Listing<Invite>> {
  const now = ctx.deps.clock()
  const matches = selectMatches(ctx, filter, now)
  return readPage(
    page,
    () => countMatches(ctx, filter, now),
    async (window) => {
      const invites = await findInOrder(ctx, {}, await findMatchingIds(ctx, matches, order, window))
      return invites.map((invite) => asOfNow(invite, now))
    },
  )
}

async function findInOrder(ctx: Context, filter: CountedFilter, ids: string[]): Promise<Invite[]> {
  const where = { ...toWhere(ctx, filter), id: anyOf(ids) }
  const invites = await ctx.db.invite.findMany({ where, include, relationLoadStrategy: 'join' })
  const byId = new Map(invites.map((invite) => [invite.id, invite]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** v1.md GET /invites/{inviteId}; alternate.md GET /assessment_invites/{id}. @throws DomainError invite_not_found, not_permitted. */
export async function getInvite(ctx: Context, id: string): Promise<InviteDetail> {
  const [invite] = await findDetails(ctx, [id])
  if (!invite) throw new DomainError('invite_not_found')
  await authorizeInvites(ctx, invite)
  return asOfNow(invite, ctx.deps.clock())
}

const findDetails = shareQuery<InviteDetail>((ctx, ids) =>
  ctx.db.invite.findMany({
    where: { organizationId: ctx.organization.id, id: anyOf(ids) },
    include: detailInclude,
    relationLoadStrategy: 'join',
  }),
)

/** @throws DomainError invite_not_found, not_permitted. */
export async function requireInvite(ctx: Context, id: string): Promise<void> {
  if (!isUuid(id)) throw new DomainError('invite_not_found')
  const where = { organizationId: ctx.organization.id, id }
  const invite = await ctx.db.invite.findFirst({ where, select: { assessmentId: true, assignedGraderId: true } })
  if (!invite) throw new DomainError('invite_not_found')
  await authorizeInvites(ctx, invite)
}

const toWhere = (ctx: Context, { assessmentId, status }: CountedFilter): Prisma.InviteWhereInput =>
  defined({ organizationId: ctx.organization.id, assessmentId, status })
