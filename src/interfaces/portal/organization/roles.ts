import { MEMBER_ROLES, type Member } from '../../../domain/members/members.ts'

/** Roles and portal roles in one list of checkboxes. */
export const ROLES = [
  ['admin', 'Admin: everything except how members sign in, which is up to owners'],
  ['manager', 'Manager: invites candidates, reads answers, assigns graders, releases and exports results'],
  ['author', 'Author: writes assessments and questions; sees no candidates'],
  ['grader', 'Grader: reads and grades the submissions assigned to them'],
  ['client', 'Client: sees released results of the assessments shared with them'],
] as const

/** Filter values. Owner has no checkbox, because owners are named separately. */
export const FILTERED_ROLES = ['owner', ...ROLES.map(([word]) => word)]

export const rolesOf = ({ roles, portalRoles }: Pick<Member, 'roles' | 'portalRoles'>): string =>
  [...portalRoles, ...roles].join(', ')

/** Hint with the roles that have no checkbox. */
export function hintOf({ roles, portalRoles }: Member): { hint?: string } {
  const customRoles = roles.filter((role) => !MEMBER_ROLES.some((known) => known === role))
  const hints = [
    ...(portalRoles.includes('owner') ? ['An owner, who stays an admin.'] : []),
    ...(customRoles.length > 0 ? [`Other roles: ${customRoles.join(', ')}`] : []),
  ]
  return hints.length > 0 ? { hint: hints.join(' ') } : {}
}
