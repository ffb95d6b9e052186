import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { getInvite } from '../invites.ts'
import { lockInvite } from '../operations.ts'

/** Keeps an invite that its candidate has started. @throws DomainError invite_not_found; invalid, `hasStarted`. */
export async function keepStarted(inside: Context, inviteId: string): Promise<void> {
  await lockInvite(inside, inviteId)
  if ((await getInvite(inside, inviteId)).status === 'started')
    throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'hasStarted' }] })
}
