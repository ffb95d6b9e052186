import type { Actor, Context } from '../context.ts'
import { DomainError } from '../errors.ts'

/** What an actor may be allowed to do within one organization. */
export type Permission = 'read' | 'write_tags' | 'invite' | 'operate_invites' | 'manage_webhooks' | 'take_invite'

/** What each kind of actor may do: the one place where this is said. */
const permissions = {
  apiKey: ['read', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks'],
  candidate: ['take_invite'],
  operator: ['read', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks'],
  system: ['read'],
} as const satisfies Record<Actor['kind'], Permission[]>

/** @throws DomainError not_permitted when the context's actor may not do that. */
export function authorize({ actor }: Pick<Context, 'actor'>, permission: Permission): void {
  const allowed: readonly Permission[] = permissions[actor.kind]
  if (!allowed.includes(permission)) throw new DomainError('not_permitted')
}
