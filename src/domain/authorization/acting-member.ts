import type { MemberStatus } from '../../generated/prisma/client.ts'
import type { Actor } from '../actor.ts'
import type { Context } from '../context.ts'
import { portalRolesOf } from './portal-roles.ts'

/** Columns of a member that {@link actingMember} needs. */
export const memberColumns = {
  id: true,
  userId: true,
  roles: true,
  portalRoles: true,
  canViewTranscription: true,
  status: true,
  organization: { select: { ownerNamedAt: true } },
} as const
type Member = {
  id: string
  userId: string
  roles: string[]
  portalRoles: string[]
  canViewTranscription: boolean
  status: MemberStatus
  organization: { ownerNamedAt: Date | null }
}

/** The member as the actor of work that a job does for them. Without roles once they are no longer active. */
export const actingMember = (member: Member): Extract<Actor, { kind: 'member' }> => ({
  kind: 'member',
  id: member.id,
  userId: member.userId,
  ...(member.status === 'active'
    ? {
        ...{ roles: member.roles, portalRoles: portalRolesOf(member, member.organization) },
        canViewTranscription: member.canViewTranscription,
      }
    : { roles: [] }),
})

/** A member of the organization as the actor. */
export const getActingMember = async ({ db, organization }: Context, id: string): Promise<ReturnType<typeof actingMember>> =>
  actingMember(await db.member.findFirstOrThrow({ where: { organizationId: organization.id, id }, select: memberColumns }))
