import type { Actor } from '../actor.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'

export type Permission =
  /** All candidates, invites, and submissions. */
  | 'read'
  /** Assessments and their questions. */
  | 'read_assessments'
  /** Only assessments shared with the client, see invites/visibility.ts. */
  | 'read_as_client'
  /** Only assigned invites and their submissions, see invites/visibility.ts. */
  | 'read_as_grader'
  /** See submissions/grading. */
  | 'grade'
  /** On behalf of a member who may grade, see submissions/grading/grade-for-members.ts. */
  | 'grade_for_members'
  | 'write_assessments'
  /** The library of questions. */
  | 'read_library'
  | 'write_tags'
  | 'invite'
  | 'operate_invites'
  /** All submissions; graders release their assigned ones without it, see submissions/grading/release-result.ts. */
  | 'release_results'
  /** Decide about candidates, see invites/decisions. */
  | 'decide'
  /** Share results with clients, and with candidates. */
  | 'share_results'
  /** Grades and results, as files. */
  | 'export'
  | 'manage_webhooks'
  | 'manage_keys'
  /** Connections to applicant tracking systems. */
  | 'manage_ats'
  | 'manage_members'
  | 'manage_settings'
  /** Owners, sign-in methods, networks, and session limits. */
  | 'manage_security'
  | 'read_audit_log'
  | 'delete_test_data'
  /** Erase a candidate from the organization, see domain/erasure. */
  | 'erase_candidates'
  /** Erase the whole organization, see domain/erasure/suspension.ts. */
  | 'erase_organization'
  /** Export the whole organization as a file, see domain/archives/request-archive.ts. */
  | 'export_organization'
  | 'take_invite'
  /** Words of recorded answers, of submissions that the actor may read. */
  | 'read_transcripts'

/** Permissions to invite candidates, and to manage the invites. */
const RECRUITING = [
  'read',
  'read_assessments',
  'write_tags',
  'invite',
  'operate_invites',
  'release_results',
  'decide',
  'share_results',
  'export',
] as const satisfies Permission[]

const AUTHORING = ['read_assessments', 'write_assessments', 'read_library'] as const satisfies Permission[]

/** Permissions of admins, except those reserved for owners. */
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

/** Permissions by kind of actor. {@link rightPermissions} and {@link memberPermissions} add to them; there is no other place. */
const permissions = {
  apiKey: ['read', 'read_assessments', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks', 'delete_test_data'],
  ats: ['read', 'read_assessments', 'invite', 'operate_invites'],
  candidate: ['take_invite'],
  visitor: ['invite'],
  operator: [
    ...ADMINISTRATION,
    'manage_security',
    'erase_candidates',
    'erase_organization',
    'export_organization',
    'read_transcripts',
  ],
  system: ['read', 'read_assessments', 'read_transcripts'],
} as const satisfies Record<Exclude<Actor['kind'], 'member'>, readonly Permission[]>

/** Optional rights of a key. */
export const KEY_RIGHTS = ['manage'] as const
export type KeyRight = (typeof KEY_RIGHTS)[number]

/** Permissions by right. No key grants or changes the role admin: see members/refuse-key-on-admins.ts. */
const rightPermissions: Record<KeyRight, readonly Permission[]> = {
  manage: ['write_assessments', 'share_results', 'manage_members', 'grade_for_members'],
}
const allowedBy = new Map<string, readonly Permission[]>(Object.entries(rightPermissions))

/** The scope of each operation narrows it. */
const READS = ['read', 'read_assessments'] as const

/**
 * Permissions by scope. The scope of each operation narrows what can be read, see http/openapi/key-access.ts. A key without scopes
 * has the permissions of all keys; only a key with the scope can read the audit log or transcripts.
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
  'transcripts:read': [...READS, 'read_transcripts'],
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

/** Roles in the portal. Separate from the documented roles, which may contain an organization's own values. Owners are admins, too. */
export const PORTAL_ROLES = ['owner', 'manager', 'author'] as const
export type PortalRole = (typeof PORTAL_ROLES)[number]

const portalRolePermissions = new Map<string, readonly Permission[]>(
  Object.entries({
    owner: ['manage_security', 'erase_candidates', 'erase_organization', 'export_organization'],
    manager: RECRUITING,
    author: AUTHORING,
  } satisfies Record<PortalRole, readonly Permission[]>),
)

/** Permissions by role. Other words in a member's roles allow nothing. */
const memberPermissions = new Map<string, readonly Permission[]>([
  ['admin', [...ADMINISTRATION, 'grade']],
  ['grader', ['read_as_grader', 'grade', 'read_library']],
  ['client', ['read_as_client']],
])

/** Required in addition to a role: no role alone may read transcripts. */
const TRANSCRIPT_READER = ['read_transcripts'] as const satisfies Permission[]

export const may = ({ actor }: Pick<Context, 'actor'>, permission: Permission): boolean =>
  permissionsOf(actor).some((allowed) => allowed?.includes(permission))

/** Lists of permissions that apply to the actor. A page asks dozens of times, so lists are not merged. */
function permissionsOf(actor: Actor): (readonly Permission[] | undefined)[] {
  if (actor.kind === 'member')
    return [
      ...actor.roles.map((role) => memberPermissions.get(role)),
      ...(actor.portalRoles ?? []).map((portalRole) => portalRolePermissions.get(portalRole)),
      actor.canViewTranscription ? TRANSCRIPT_READER : undefined,
    ]
  if (actor.kind === 'apiKey' && actor.scopes?.length) return actor.scopes.map((scope) => allowedByScope.get(scope))
  if (actor.kind !== 'apiKey' || !actor.rights?.length) return [permissions[actor.kind]]
  return [permissions.apiKey, ...actor.rights.map((right) => allowedBy.get(right))]
}

/** @throws DomainError not_permitted when the context's actor may not do that. */
export function authorize(ctx: Pick<Context, 'actor'>, permission: Permission): void {
  if (!may(ctx, permission)) throw new DomainError('not_permitted')
}
