import type { MemberStatus } from '../../generated/prisma/client.ts'
import type { Actor } from '../context.ts'

/** Columns of a member that {@link actingMember} needs. */
export const memberColumns = { id: true, userId: true, roles: true, portalRoles: true, status: true } as const
type Member = { id: string; userId: string; roles: string[]; portalRoles: string[]; status: MemberStatus }

/** The member in whose name something is done that they have given: somebody who may not, once they are not active any more. */
export const actingMember = ({ id, userId, roles, portalRoles, status }: Member): Extract<Actor, { kind: 'member' }> => ({
  kind: 'member',
  id,
  userId,
  ...(status === 'active' ? { roles, portalRoles } : { roles: [] }),
})
