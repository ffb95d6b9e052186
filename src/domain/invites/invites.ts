import { sql } from '../../db/builder.ts'
import { type Expression, type Expressions, type SqlBool, scopeWhere } from '../../db/queries.ts'
import { jsonBuildObject, listOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import { type InviteStatus, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { projectionOf, type RowOf, type Selected } from '../lists/listing.ts'
import { rowLoader } from '../loaders/batch-loader.ts'
import { isUuid } from '../text/uuid.ts'
import { withCurrentStatus } from './expiry.ts'
import { authorizeInvites } from './visibility.ts'

export type { InviteStatus }
export const INVITE_STATUSES = [
  'pending',
  'accepted',
  'started',
  'completed',
  'expired',
  'revoked',
] as const satisfies InviteStatus[]

const assessmentName = (eb: Expressions<'invites'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('assessments'))
    .select('assessments.name')
    .whereRef('assessments.id', '=', 'invites.assessmentId')
    .$asScalar()
    .$notNull()
const tagIds = (eb: Expressions<'invites'>, db: TenantDb) =>
  listOf(
    eb
      .selectFrom(db.table('inviteTags'))
      .select('inviteTags.tagId')
      .whereRef('inviteTags.inviteId', '=', 'invites.id')
      .orderBy('position'),
  )
const assignedGrader = (eb: Expressions<'invites'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('members'))
    .innerJoin(db.table('users'), 'users.id', 'members.userId')
    .whereRef('members.id', '=', 'invites.assignedGraderId')
    .select(({ ref }) => {
      const user = { firstName: ref('users.firstName'), lastName: ref('users.lastName'), email: ref('users.email') }
      const member = {
        id: ref('members.id'),
        email: ref('members.email'),
        status: ref('members.status'),
        roles: ref('members.roles'),
      }
      return jsonBuildObject({ ...member, user: jsonBuildObject(user) }).as('grader')
    })
    .$asScalar()

/** The id of the attempt before, of a retake. */
const retakeOf = (eb: Expressions<'invites'>, db: TenantDb): Expression<string | null> => {
  const before = eb
    .selectFrom(db.table('invites as before'))
    .select('before.id')
    .whereRef('before.assessmentId', '=', 'invites.assessmentId')
    .whereRef('before.mode', '=', 'invites.mode')
    .where(sql<SqlBool>`address_key(${sql.ref('before.recipientEmail')}) = address_key(${sql.ref('invites.recipientEmail')})`)
    .where(sql<SqlBool>`${sql.ref('before.attempt')} = ${sql.ref('invites.attempt')} - 1`)
  return sql<string | null>`case when ${eb.ref('invites.attempt')} > 1 then (${before}) end`
}

/** An invite with its assessment's name, its tags' ids and, for a retake, the id of the previous attempt. */
export const wholeInvite = projectionOf('invites', Prisma.InviteScalarFieldEnum, { assessmentName, tagIds, retakeOf })
export type Invite = Selected<typeof wholeInvite>
/** An invite as a list has it. */
export type ListedInvite = RowOf<typeof wholeInvite>
/** An invite as above, with the grader's account. */
export const detailedInvite = projectionOf('invites', Prisma.InviteScalarFieldEnum, {
  assessmentName,
  tagIds,
  retakeOf,
  assignedGrader,
})
export type InviteDetail = Selected<typeof detailedInvite>

/** v1.md GET /invites/{inviteId}; alternate.md GET /assessment_invites/{id}. @throws DomainError invite_not_found, not_permitted. */
export async function getInvite(ctx: Context, id: string): Promise<InviteDetail> {
  const [invite] = await findDetails(ctx, [id])
  if (!invite) throw new DomainError('invite_not_found')
  await authorizeInvites(ctx, invite)
  return withCurrentStatus(invite, ctx.deps.clock())
}

const findDetails = rowLoader(detailedInvite)

/** @throws DomainError invite_not_found, not_permitted. */
export async function requireVisibleInvite(ctx: Context, id: string): Promise<void> {
  if (!isUuid(id)) throw new DomainError('invite_not_found')
  const where = { ...scopeWhere(ctx), id }
  const invite = await ctx.db.invite.findFirst({ where, select: { assessmentId: true, assignedGraderId: true } })
  if (!invite) throw new DomainError('invite_not_found')
  await authorizeInvites(ctx, invite)
}
