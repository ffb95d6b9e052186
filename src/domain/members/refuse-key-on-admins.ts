import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'

/**
 * Keeps API keys from what would let whoever has one run the organization: they neither give nor take the role admin, and change nobody who
 * has it.
 *
 * @param roles those that the member has, and those that they are to have. @throws DomainError admin_refused.
 */
export function refuseKeyOnAdmins({ actor }: Pick<Context, 'actor'>, ...roles: readonly string[][]): void {
  if (actor.kind === 'apiKey' && roles.flat().includes('admin')) throw new DomainError('admin_refused')
}
