import type { Actor, Context, KeyRight } from '../context.ts'
import { DomainError } from '../errors.ts'

/** What an actor may be allowed to do within one organization. */
export type Permission =
  | 'read'
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
  | 'manage_webhooks'
  | 'manage_keys'
  /** Connections to applicant tracking systems. */
  | 'manage_ats'
  | 'manage_members'
  | 'manage_settings'
  | 'read_audit_log'
  | 'delete_test_data'
  | 'take_invite'

/** All that an organization is run by. */
const ADMINISTRATION = [
  'read',
  'write_assessments',
  'read_library',
  'write_tags',
  'invite',
  'operate_invites',
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
  apiKey: ['read', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks', 'delete_test_data'],
  ats: ['read', 'invite', 'operate_invites'],
  candidate: ['take_invite'],
  operator: ADMINISTRATION,
  system: ['read'],
} as const satisfies Record<Exclude<Actor['kind'], 'member'>, readonly Permission[]>

/** What an API key may do besides, by its rights. No key gives or changes the role admin: see members/refuse-key-on-admins.ts. */
const rightPermissions: Record<KeyRight, readonly Permission[]> = {
  manage: ['write_assessments', 'manage_members', 'grade_for_members'],
}
const allowedBy = new Map<string, readonly Permission[]>(Object.entries(rightPermissions))

/** What a member may do, by role; their own account is everybody's. An organization's other words for a role allow nothing. */
const memberPermissions = new Map<string, readonly Permission[]>([
  ['admin', [...ADMINISTRATION, 'grade']],
  ['grader', ['read_as_grader', 'grade', 'read_library']],
  ['client', ['read_as_client']],
])

/** Whether the context's actor may do that. */
export const may = ({ actor }: Pick<Context, 'actor'>, permission: Permission): boolean =>
  permissionsOf(actor).some((allowed) => allowed === permission)

function permissionsOf(actor: Actor): readonly Permission[] {
  if (actor.kind === 'member') return actor.roles.flatMap((role) => memberPermissions.get(role) ?? [])
  if (actor.kind !== 'apiKey' || !actor.rights?.length) return permissions[actor.kind]
  return [...permissions.apiKey, ...actor.rights.flatMap((right) => allowedBy.get(right) ?? [])]
}

/** @throws DomainError not_permitted when the context's actor may not do that. */
export function authorize(ctx: Pick<Context, 'actor'>, permission: Permission): void {
  if (!may(ctx, permission)) throw new DomainError('not_permitted')
}
