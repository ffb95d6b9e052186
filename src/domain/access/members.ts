import { anyOf, containsText, equalsText } from '../../db/query.ts'
import type { Prisma, User } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { defined } from '../defined.ts'
import { DomainError } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { type Listing, type Order, type Page, readPage, totalOrder } from '../page.ts'
import { shareQuery } from '../shared-query.ts'
import { authorize } from './permissions.ts'

export type { User }
/** The roles that mean something to the service; an organization may use any other words as well. */
export const MEMBER_ROLES = ['admin', 'grader', 'client'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]
export type MemberOrder = Order<'joinedAt' | 'email' | 'createdAt'>
export type MemberFilter = {
  status?: 'active' | 'inactive'
  /** Roles the member must have, or must not have. */
  roles?: Partial<Record<MemberRole, boolean>>
  tagIds?: string[]
  /** Full values, in any case. */
  firstName?: string
  lastName?: string
  email?: string
  /** Each word in the name or the address. */
  search?: string
}

const include = {
  user: true,
  tags: { select: { tagId: true }, orderBy: { position: 'asc' } },
  gradingLanguages: { select: { languageId: true }, orderBy: { position: 'asc' } },
  _count: { select: { clientOf: true } },
} satisfies Prisma.MemberInclude

/** A member with the person's account, the ids of its tags and grading languages, and how many assessments it is a client of. */
export type Member = Prisma.MemberGetPayload<{ include: typeof include }>

/** v1.md GET /members; alternate.md GET /organization_users. @throws DomainError invalid for a filter beyond its limits. */
export function listMembers(ctx: Context, filter: MemberFilter, order: MemberOrder, page: Page): Promise<Listing<Member>> {
  authorize(ctx, 'read')
  refuseExcess(filter)
  const where = toWhere(ctx, filter)
  const { member } = ctx.db
  return readPage(
    page,
    () => member.count({ where }),
    (window) => member.findMany({ where, orderBy: totalOrder(order), include, relationLoadStrategy: 'join', ...window }),
  )
}

/** A member of the organization, active or not. @throws DomainError member_not_found. */
export async function getMember(ctx: Context, id: string): Promise<Member> {
  authorize(ctx, 'read')
  const [member] = await findMembers(ctx, [id])
  if (!member) throw new DomainError('member_not_found')
  return member
}

/** The organization's members with these ids, in no particular order; other ids are left out. */
export const findMembers = shareQuery<Member>((ctx, ids) =>
  ctx.db.member.findMany({
    where: { organizationId: ctx.organization.id, id: anyOf(ids) },
    include,
    relationLoadStrategy: 'join',
  }),
)

/** The accounts with these ids whose person is a member of the organization, in no particular order; other ids are left out. */
export const findUsers = shareQuery<User>((ctx, ids) =>
  ctx.db.user.findMany({ where: { id: anyOf(ids), memberships: { some: { organizationId: ctx.organization.id } } } }),
)

/** Prisma's condition for the organization's members that match the filter. */
export function toWhere(
  ctx: Context,
  { status, roles = {}, tagIds, firstName, lastName, email, search }: MemberFilter,
): Prisma.MemberWhereInput {
  const byRole = Object.entries(roles).map(([role, wanted]) =>
    wanted ? { roles: { has: role } } : { NOT: { roles: { has: role } } },
  )
  // One condition on the account for all of them, including the address: each by itself would add a join.
  const byText = [
    ...readWords(search).map((word) => {
      const found = containsText(word)
      return { OR: [{ email: found }, { firstName: found }, { lastName: found }] }
    }),
    ...(firstName === undefined ? [] : [{ firstName: equalsText(firstName) }]),
    ...(lastName === undefined ? [] : [{ lastName: equalsText(lastName) }]),
  ]
  return {
    ...defined({
      organizationId: ctx.organization.id,
      status,
      tags: tagIds && { some: { tagId: anyOf(tagIds) } },
      email: email === undefined ? undefined : equalsText(email),
      user: byText.length === 0 ? undefined : { AND: byText },
    }),
    AND: byRole,
  }
}
