import { sql } from '../../db/builder.ts'
import type { Expressions } from '../../db/queries.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { SecondFactorKind } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'

export type { SecondFactorKind }

/** Joined member with their kinds of second factor. */
export type MemberFactors = { id: string; email: string; firstName: string; lastName: string; kinds: SecondFactorKind[] }

const kinds = (eb: Expressions<'members'>, db: TenantDb) =>
  sql<SecondFactorKind[]>`${eb
    .selectFrom(db.table('secondFactors'))
    .select(({ ref }) => sql`coalesce(array_agg(distinct ${ref('secondFactors.kind')}::text), '{}')`.as('kinds'))
    .whereRef('secondFactors.credentialId', '=', 'members.credentialId')}`

/** Members who can sign in, members without a second factor first. @param atMost members. @throws DomainError not_permitted. */
export async function listMembersFactors(ctx: Context, atMost: number): Promise<MemberFactors[]> {
  authorize(ctx, 'manage_members')
  const members = ctx.db
    .selectFrom('members')
    .innerJoin(ctx.db.table('users'), 'users.id', 'members.userId')
    .where('members.status', '=', 'active')
    .where('members.credentialId', 'is not', null)
  return members
    .select(['members.id', 'members.email', 'users.firstName', 'users.lastName'])
    .select((eb) => kinds(eb, ctx.db).as('kinds'))
    .orderBy((eb) => sql`cardinality(${kinds(eb, ctx.db)})`)
    .orderBy('members.email')
    .orderBy('members.id')
    .limit(atMost)
    .execute()
}

/** Number of members who can sign in, and how many have a second factor. @throws DomainError not_permitted. */
export async function countMembersWithFactor(ctx: Context): Promise<{ members: number; withFactor: number }> {
  authorize(ctx, 'manage_members')
  const where = { organizationId: ctx.organization.id, status: 'active' as const }
  const members = await ctx.db.member.count({ where: { ...where, credentialId: { not: null } } })
  const withFactor = await ctx.db.member.count({ where: { ...where, credential: { secondFactors: { some: {} } } } })
  return { members, withFactor }
}

/** Second factors of one member. @throws DomainError not_permitted. */
export async function findMemberFactors(
  ctx: Context,
  { credentialId }: { credentialId: string | null },
): Promise<SecondFactorKind[]> {
  authorize(ctx, 'manage_members')
  if (!credentialId) return []
  const found = await ctx.db.secondFactor.findMany({ where: { credentialId }, distinct: ['kind'], select: { kind: true } })
  return found.map(({ kind }) => kind)
}
