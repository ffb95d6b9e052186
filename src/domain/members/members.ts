import { sql } from '../../db/builder.ts'
import { anyOfIds, type Condition, type Expressions, expressionsOf } from '../../db/queries.ts'
import { type AsJson, jsonOf, jsonRowOf, listOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import { type Member as MemberRow, Prisma, type User as UserRow } from '../../generated/prisma/client.ts'
import { authorize, type PortalRole } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { validateFilter } from '../lists/filters.ts'
import {
  containsAll,
  type FilterConditions,
  listPage,
  type Projection,
  projectionOf,
  type RowOf,
  type TokenizedFilter,
  toPatterns,
} from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { rowLoader } from '../loaders/batch-loader.ts'
import type { Source } from '../loaders/multi-loader.ts'
import { caseKey } from '../text/fold-text.ts'
import { isUuid } from '../text/uuid.ts'
import { addressEquals } from '../validation/address-equals.ts'
import { toStoredAddress } from '../validation/email-address.ts'

/** Roles with a meaning to the service. Organizations may use others. */
export const MEMBER_ROLES = ['admin', 'grader', 'client'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]
export const isKnownRole = (role: string): boolean => MEMBER_ROLES.some((knownRole) => knownRole === role)
export type MemberOrder = Order<'joinedAt' | 'email' | 'createdAt'>
export type MemberFilter = {
  status?: 'active' | 'inactive'
  /** Roles the member must have, or must not have. */
  roles?: Partial<Record<MemberRole, boolean>>
  portalRole?: PortalRole
  department?: string
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

/** Member with their account, the ids of their tags and grading languages, and the number of assessments shared with them. */
export type Member = MemberRow & {
  user: User
  tagIds: string[]
  gradingLanguageIds: string[]
  clientOfCount: number
}

const user = (eb: Expressions<'members'>, db: TenantDb) =>
  jsonRowOf(
    eb
      .selectFrom(db.table('users'))
      .whereRef('users.id', '=', 'members.userId')
      .select(['users.id', 'users.firstName', 'users.lastName', 'users.email', 'users.avatarUrl']),
  )
const tagIds = (eb: Expressions<'members'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('memberTags'))
      .select('memberTags.tagId')
      .whereRef('memberTags.memberId', '=', 'members.id')
      .orderBy('position'),
  )
const gradingLanguageIds = (eb: Expressions<'members'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('memberGradingLanguages'))
      .select('memberGradingLanguages.languageId')
      .whereRef('memberGradingLanguages.memberId', '=', 'members.id')
      .orderBy('position'),
  )
const clientOfCount = (eb: Expressions<'members'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('assessmentClients'))
    .select(sql<number>`count(*)::int`.as('count'))
    .whereRef('assessmentClients.memberId', '=', 'members.id')
    .$asScalar()
    .$notNull()
export const wholeMember = projectionOf('members', Prisma.MemberScalarFieldEnum, {
  user,
  tagIds,
  gradingLanguageIds,
  clientOfCount,
})
export type ListedMember = RowOf<typeof wholeMember>

/**
 * v1.md GET /members; alternate.md GET /organization_users.
 *
 * @throws DomainError invalid for a filter beyond its limits.
 */
export async function listMembers<Row>(
  ctx: Context,
  projection: Projection<'members', Row>,
  filter: MemberFilter,
  order: MemberOrder,
  page: PageRequest,
): Promise<ListPage<AsJson<Row>>> {
  authorize(ctx, 'read')
  validateFilter(filter)
  return listPage(ctx, memberList, { projection, filter: toMemberConditions(filter), order, page })
}

/** A member of the organization, active or not. @throws DomainError member_not_found. */
export async function getMember(ctx: Context, id: string): Promise<Member> {
  authorize(ctx, 'read')
  return refuseErased(await findMembers(ctx, [id]))
}

/** Erased members appear in results and have no page. */
function refuseErased([member]: Member[]): Member {
  if (!member || member.erasedAt) throw new DomainError('member_not_found')
  return member
}

/** Locks a member until the transaction ends. @throws DomainError member_not_found. */
export function lockMember(inside: Context, id: string): Promise<Member> {
  authorize(inside, 'read')
  return lockAnyMember(inside, id)
}

/** As {@link lockMember}, also for members who may read nobody but themselves. @throws DomainError member_not_found. */
export async function lockAnyMember(inside: Context, id: string): Promise<Member> {
  if (isUuid(id)) await inside.db.selectFrom('members').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
  return refuseErased(await findMembers(inside, [id]))
}

/** The organization's members with these ids, in no particular order; other ids are left out. */
export const findMembers = rowLoader(wholeMember)

/** Accounts of the organization's members. */
export const users = <View>(present: (user: User) => View): Source<View> => ({
  present,
  find: (db, ids) =>
    jsonOf(
      db
        .selectFrom('members')
        .innerJoin(db.table('users'), 'users.id', 'members.userId')
        .where('users.id', '=', anyOfIds(ids))
        .select(['users.id', 'users.firstName', 'users.lastName', 'users.email', 'users.avatarUrl']),
    ),
})

/** A member's filter as its conditions take it: roles that it must have, and must not have. */
type MemberConditionInput = Omit<TokenizedFilter<MemberFilter>, 'roles'> & {
  requiredRoles?: string[]
  excludedRoles?: string[]
  isThere: true
}
export function toMemberConditions({ roles = {}, ...filter }: MemberFilter): MemberConditionInput {
  const rolesThat = (wanted: boolean) => Object.keys(roles).filter((role) => roles[role as MemberRole] === wanted)
  const [required, excluded] = [rolesThat(true), rolesThat(false)]
  const { firstName, lastName, email, ...otherFilters } = toPatterns(filter)
  return {
    ...otherFilters,
    isThere: true,
    ...(firstName !== undefined && { firstName: caseKey(firstName) }),
    ...(lastName !== undefined && { lastName: caseKey(lastName) }),
    ...(email !== undefined && { email: toStoredAddress(email) }),
    ...(required.length > 0 && { requiredRoles: required }),
    ...(excluded.length > 0 && { excludedRoles: excluded }),
  }
}

const accountMatches = (eb: Expressions<'members'>, condition: (account: Expressions<'users'>) => Condition, db: TenantDb) =>
  eb.exists(
    eb
      .selectFrom(db.table('users'))
      .select('users.id')
      .whereRef('users.id', '=', 'members.userId')
      .where(condition(expressionsOf<'users'>())),
  )

const filters: FilterConditions<'members', MemberConditionInput> = {
  isThere: (eb) => eb('members.erasedAt', 'is', null),
  status: '=',
  requiredRoles: (eb, roles) => sql`${eb.ref('members.roles')} @> ${roles}::text[]`,
  excludedRoles: (eb, roles) => sql`not ${eb.ref('members.roles')} && ${roles}::text[]`,
  portalRole: (eb, portalRole) => sql`${portalRole} = any(${eb.ref('members.portalRoles')})`,
  tagIds: (eb, ids, db) =>
    eb(
      'members.id',
      'in',
      eb.selectFrom(db.table('memberTags')).select('memberTags.memberId').where('memberTags.tagId', '=', anyOfIds(ids)),
    ),
  department: '=',
  firstName: (eb, name, db) => accountMatches(eb, (account) => account('users.firstNameKey', '=', name), db),
  lastName: (eb, name, db) => accountMatches(eb, (account) => account('users.lastNameKey', '=', name), db),
  email: (eb, email) => addressEquals(eb.ref('members.email'), email),
  search: (eb, patterns, db) => accountMatches(eb, ({ ref }) => containsAll(ref('users.searchKey'), patterns), db),
}
export const memberList = { table: 'members', filters } as const
