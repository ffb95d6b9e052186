import type { Actor, Context } from '../context.ts'
import { DomainError } from '../errors.ts'

/** What an actor may be allowed to do within one organization. */
export type Permission =
  /** Everybody's candidates, invites, and what they hand in. */
  | 'read'
  /** Assessments and their questions. */
  | 'read_assessments'
  /** Of assessments that they are client of, see invites/visibility.ts. */
  | 'read_as_client'
  /** Of invites that are assigned to them, see there too, and of what their candidates send in. */
  | 'read_as_grader'
  /** What candidates have handed in, see submissions/grading. */
  | 'grade'
  /** In the name of a member who may, see submissions/grading/grade-for-members.ts. */
  | 'grade_for_members'
  | 'write_assessments'
  /** The library of questions. */
  | 'read_library'
  | 'write_tags'
  | 'invite'
  | 'operate_invites'
  /** Of everybody's submissions; a grader releases what is assigned to them, see submissions/grading/release-result.ts. */
  | 'release_results'
  /** Who sees an assessment's results: its clients, and candidates by themselves. */
  | 'share_results'
  /** Grades and results, as files. */
  | 'export'
  | 'manage_webhooks'
  | 'manage_keys'
  /** Connections to applicant tracking systems. */
  | 'manage_ats'
  | 'manage_members'
  | 'manage_settings'
  /** Who its owners are, how its members sign in, from which networks, and for how long. */
  | 'manage_security'
  | 'read_audit_log'
  | 'delete_test_data'
  /** Whoever has an address, from the organization: see domain/erasure. */
  | 'erase_candidates'
  /** All of it: see domain/erasure/suspension.ts. */
  | 'erase_organization'
  | 'take_invite'

/** Inviting, and what becomes of it. */
const RECRUITING = [
  'read',
  'read_assessments',
  'write_tags',
  'invite',
  'operate_invites',
  'release_results',
  'share_results',
  'export',
] as const satisfies Permission[]

const AUTHORING = ['read_assessments', 'write_assessments', 'read_library'] as const satisfies Permission[]

/** All that an organization is run by, but for what is its owners'. */
const ADMINISTRATION = [
  ...RECRUITING,
  ...AUTHORING,
  'manage_webhooks',
  'manage_keys',
  'manage_ats',
  'manage_members',
  'manage_settings',
  'read_audit_log',
  'delete_test_data',
] as const satisfies Permission[]

/** What each kind of actor may do. With {@link rightPermissions} and {@link memberPermissions} the one place where this is said. */
const permissions = {
  apiKey: ['read', 'read_assessments', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks', 'delete_test_data'],
  ats: ['read', 'read_assessments', 'invite', 'operate_invites'],
  candidate: ['take_invite'],
  operator: [...ADMINISTRATION, 'manage_security', 'erase_candidates', 'erase_organization'],
  system: ['read', 'read_assessments'],
} as const satisfies Record<Exclude<Actor['kind'], 'member'>, readonly Permission[]>

/** What a key may be allowed besides what all keys may. */
export const KEY_RIGHTS = ['manage'] as const
export type KeyRight = (typeof KEY_RIGHTS)[number]

/** What an API key may do besides, by its rights. No key gives or changes the role admin: see members/refuse-key-on-admins.ts. */
const rightPermissions: Record<KeyRight, readonly Permission[]> = {
  manage: ['write_assessments', 'share_results', 'manage_members', 'grade_for_members'],
}
const allowedBy = new Map<string, readonly Permission[]>(Object.entries(rightPermissions))

/** Which of it, the scope of each operation says. */
const READS = ['read', 'read_assessments'] as const

/**
 * What an API key may be restricted to, and what it may do then, and nothing else. Which of what can be read, says the scope of each
 * operation, see http/openapi/key-access.ts. A key without any may do what all keys may; the audit log is for keys alone that name it.
 */
const scopePermissions = {
  'assessments:read': READS,
  'assessments:write': [...READS, 'write_assessments', 'share_results'],
  'invites:read': READS,
  'invites:write': [...READS, 'invite', 'operate_invites', 'delete_test_data'],
  'members:read': READS,
  'members:write': [...READS, 'manage_members'],
  'tags:read': READS,
  'tags:write': [...READS, 'write_tags'],
  'results:read': READS,
  'results:write': [...READS, 'grade_for_members'],
  'events:read': READS,
  'webhooks:manage': [...READS, 'manage_webhooks'],
  'audit:read': ['read_audit_log'],
  'candidates:erase': ['erase_candidates'],
} as const satisfies Record<string, readonly Permission[]>
export type KeyScope = keyof typeof scopePermissions
export const KEY_SCOPES = Object.keys(scopePermissions) as KeyScope[]
const allowedByScope = new Map<string, readonly Permission[]>(Object.entries(scopePermissions))

/** The rights that a key has by what its scopes name. */
export const rightsOfScopes = (scopes: readonly string[]): KeyRight[] =>
  KEY_RIGHTS.filter((right) =>
    scopes.some((scope) => allowedByScope.get(scope)?.some((allowed) => rightPermissions[right].includes(allowed))),
  )

/**
 * What members may be given besides their roles: the organization's owners, who are admins as well; those who recruit; and those who write
 * questions. They stand apart from the roles, among which organizations have words of their own.
 */
export const PORTAL_ROLES = ['owner', 'manager', 'author'] as const
export type PortalRole = (typeof PORTAL_ROLES)[number]

const portalRolePermissions = new Map<string, readonly Permission[]>(
  Object.entries({
    owner: ['manage_security', 'erase_candidates', 'erase_organization'],
    manager: RECRUITING,
    author: AUTHORING,
  } satisfies Record<PortalRole, readonly Permission[]>),
)

/** What a member may do, by role; their own account is everybody's. An organization's other words for a role allow nothing. */
const memberPermissions = new Map<string, readonly Permission[]>([
  ['admin', [...ADMINISTRATION, 'grade']],
  ['grader', ['read_as_grader', 'grade', 'read_library']],
  ['client', ['read_as_client']],
])

/** Whether the context's actor may do that. */
export const may = ({ actor }: Pick<Context, 'actor'>, permission: Permission): boolean =>
  permissionsOf(actor).some((allowed) => allowed?.includes(permission))

/** What the actor may do, a list for each thing that allows it. A page asks dozens of times: no list is copied. */
function permissionsOf(actor: Actor): (readonly Permission[] | undefined)[] {
  if (actor.kind === 'member')
    return [
      ...actor.roles.map((role) => memberPermissions.get(role)),
      ...(actor.portalRoles ?? []).map((portalRole) => portalRolePermissions.get(portalRole)),
    ]
  if (actor.kind === 'apiKey' && actor.scopes?.length) return actor.scopes.map((scope) => allowedByScope.get(scope))
  if (actor.kind !== 'apiKey' || !actor.rights?.length) return [permissions[actor.kind]]
  return [permissions.apiKey, ...actor.rights.map((right) => allowedBy.get(right))]
}

/** @throws DomainError not_permitted when the context's actor may not do that. */
export function authorize(ctx: Pick<Context, 'actor'>, permission: Permission): void {
  if (!may(ctx, permission)) throw new DomainError('not_permitted')
}
