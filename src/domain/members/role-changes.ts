import { toAuditDetails } from '../audit/audit-details.ts'
import { may, type PortalRole } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Portal roles that a manager of members may assign; owners: see owners.ts. */
export const ASSIGNABLE_PORTAL_ROLES = ['manager', 'author'] as const satisfies PortalRole[]
export type AssignablePortalRole = (typeof ASSIGNABLE_PORTAL_ROLES)[number]

type Given = { roles: readonly string[]; portalRoles: readonly string[] }

/** The portal roles that a member has once they are given these: an owner stays one. */
export const portalRolesAfter = (before: readonly string[], newRoles: readonly AssignablePortalRole[]): PortalRole[] => [
  ...(before.includes('owner') ? (['owner'] as const) : []),
  ...ASSIGNABLE_PORTAL_ROLES.filter((portalRole) => newRoles.includes(portalRole)),
]

/**
 * Refuses role changes of oneself, and of an owner by anybody but an owner. An owner stays an admin.
 *
 * @throws DomainError invalid (rule `account`: ownRoles, tooHigh).
 */
export function refuseRoleChange(ctx: Context, member: Given & { id: string }, after: Given): void {
  if (isSame(member.roles, after.roles) && isSame(member.portalRoles, after.portalRoles)) return
  const isOwn = ctx.actor.kind === 'member' && ctx.actor.id === member.id
  throwIfIssues(isOwn ? [describeRoles('ownRoles')] : [])
  refuseRoleBeyondOwn(ctx, member)
}

/** Leaves owners to owners. @throws DomainError invalid (rule `account`: tooHigh). */
export function refuseRoleBeyondOwn(ctx: Pick<Context, 'actor'>, { portalRoles }: Pick<Given, 'portalRoles'>): void {
  throwIfIssues(portalRoles.includes('owner') && !may(ctx, 'manage_security') ? [describeRoles('tooHigh')] : [])
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((word) => other.includes(word))

const describeRoles = (problem: 'ownRoles' | 'tooHigh'): Issue => ({ field: 'roles', rule: 'account', problem })

/** Changes for the audit log. */
export const changesOf = (before: Given, after: Given) =>
  toAuditDetails(
    (['roles', 'portalRoles'] as const)
      .filter((field) => !isSame(before[field], after[field]))
      .map((field) => [field, { before: before[field], after: after[field] }] as const),
  )
