import { containing, escapeLike, whereAll } from '../../db/query.ts'
import { inGivenOrder, type Shape, shapeOf, toRead } from '../../db/rows.ts'
import { type Member as MemberRow, Prisma, type User as UserRow } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { readWords, refuseExcess } from '../filters.ts'
import type { Source } from '../find-together.ts'
import { type Conditions, orderBy, ownRows, readListing } from '../listing.ts'
import type { Listing, Order, Page } from '../page.ts'
import { findById } from '../shared-query.ts'
import { isUuid } from '../uuid.ts'
import { authorize } from './permissions.ts'

/** The roles that mean something to the service; an organization may use any other words as well. */
export const MEMBER_ROLES = ['admin', 'grader', 'client'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]
export const isKnownRole = (role: string): boolean => MEMBER_ROLES.some((known) => known === role)
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

/** A person's account. */
export type User = Pick<UserRow, 'id' | 'firstName' | 'lastName' | 'email' | 'avatarUrl'>

/** A member with the person's account, the ids of its tags and grading languages, and how many assessments it is a client of. */
export type Member = MemberRow & {
  user: User
  tagIds: string[]
  gradingLanguageIds: string[]
  clientOfCount: number
}

const belongs = 'member_id = own.id'
export const wholeMember = shapeOf<Member>(
  'members',
  Prisma.MemberScalarFieldEnum,
  { joinedAt: true, createdAt: true, updatedAt: true, activeSince: true },
  {
    user: `(SELECT json_build_object('id', id, 'firstName', first_name, 'lastName', last_name, 'email', email, 'avatarUrl', avatar_url)
      FROM users WHERE id = own.user_id)`,
    tagIds: inGivenOrder('tag_id', 'member_tags', belongs),
    gradingLanguageIds: inGivenOrder('language_id', 'member_grading_languages', belongs),
    clientOfCount: `(SELECT count(*) FROM assessment_clients WHERE organization_id = own.organization_id AND ${belongs})`,
  },
)
const { id, firstName, lastName, email, avatarUrl } = Prisma.UserScalarFieldEnum
const userShape = shapeOf<User>('users', { id, firstName, lastName, email, avatarUrl }, {})
const COLUMNS = { joinedAt: 'joined_at', email: 'email', createdAt: 'created_at' } as const satisfies Record<
  MemberOrder['field'],
  string
>

/**
 * v1.md GET /members; alternate.md GET /organization_users.
 *
 * @param of what is read of each.
 * @throws DomainError invalid for a filter beyond its limits.
 */
export async function listMembers<Row>(
  ctx: Context,
  of: Shape<Row>,
  filter: MemberFilter,
  order: MemberOrder,
  page: Page,
): Promise<Listing<Row>> {
  authorize(ctx, 'read')
  refuseExcess(filter)
  return readListing(ctx, of, page, { where: ownRows(ctx, matching(ctx, filter)), order: orderBy(COLUMNS, order) })
}

/** A member of the organization, active or not. @throws DomainError member_not_found. */
export async function getMember(ctx: Context, id: string): Promise<Member> {
  authorize(ctx, 'read')
  const [member] = await findMembers(ctx, [id])
  if (!member) throw new DomainError('member_not_found')
  return member
}

/** The member as it is while nobody else changes it, until the transaction ends. @throws DomainError member_not_found. */
export async function holdMember(inside: Context, id: string): Promise<Member> {
  const own = Prisma.sql`organization_id = ${inside.organization.id}::uuid`
  if (isUuid(id)) await inside.db.$queryRaw`SELECT FROM members WHERE ${own} AND id = ${id}::uuid FOR NO KEY UPDATE`
  return getMember(inside, id)
}

/** The organization's members with these ids, in no particular order; other ids are left out. */
export const findMembers = findById(wholeMember)

/** The accounts whose person is a member of the organization. */
export const users: Source<User> = (ctx, hasId) => {
  const isMember = Prisma.sql`EXISTS (SELECT FROM members ${ownRows(ctx, [Prisma.sql`user_id = users.id`])})`
  return toRead(userShape, whereAll([hasId, isMember]))
}

/** SQL: what the filter asks of the organization's members. */
export function matching(
  ctx: Context,
  { status, roles = {}, tagIds, firstName, lastName, email, search }: MemberFilter,
): Conditions {
  const byRole = Object.entries(roles).map(([role, wanted]) => Prisma.sql`(${role} = ANY (roles)) = ${wanted}`)
  const byAccount = [
    firstName !== undefined && Prisma.sql`first_name ILIKE ${escapeLike(firstName)}`,
    lastName !== undefined && Prisma.sql`last_name ILIKE ${escapeLike(lastName)}`,
    // No word contains the line break.
    ...readWords(search).map(
      (word) => Prisma.sql`email || E'\\n' || first_name || E'\\n' || last_name ILIKE ${containing(word)}`,
    ),
  ].filter((condition) => condition !== false)
  const isMatching = () => Prisma.sql`EXISTS (SELECT FROM users ${whereAll([Prisma.sql`users.id = user_id`, ...byAccount])})`
  return [
    status !== undefined && Prisma.sql`status = ${status}::member_status`,
    ...byRole,
    tagIds !== undefined &&
      Prisma.sql`id IN (SELECT member_id FROM member_tags ${ownRows(ctx, [Prisma.sql`tag_id = ANY (${tagIds}::uuid[])`])})`,
    email !== undefined && Prisma.sql`email ILIKE ${escapeLike(email)}`,
    byAccount.length > 0 && isMatching(),
  ]
}
