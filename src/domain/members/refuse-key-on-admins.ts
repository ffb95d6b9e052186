import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'

/**
 * Keeps API keys from taking over an organization: they can't grant or remove the role admin, or change admins.
 *
 * @param roles the member's current and new roles. @throws DomainError admin_refused.
 */
export function refuseKeyOnAdmins({ actor }: Pick<Context, 'actor'>, ...roles: readonly string[][]): void {
  if (actor.kind === 'apiKey' && roles.flat().includes('admin')) throw new DomainError('admin_refused')
}
