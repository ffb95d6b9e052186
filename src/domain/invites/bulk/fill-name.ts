import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { correctInvite } from '../correct-invite.ts'
import { getInvite } from '../invites.ts'
import { lockInvite, resendInvite } from '../operations.ts'
import type { StoredParams } from './bulk-params.ts'

/** Fills in the missing name of an invite from a list, and sends the invitation again if requested. */
export async function fillName(inside: Context, inviteId: string, { listId = '', sendsAgain }: StoredParams): Promise<void> {
  const { db, organization } = inside
  await lockInvite(inside, inviteId)
  const where = { organizationId: organization.id, batchId: listId, inviteId, state: 'already' as const }
  const row = await db.inviteBatchRow.findFirst({ where, select: { name: true } })
  if (!row?.name || (await getInvite(inside, inviteId)).recipientName)
    throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'hasName' }] })
  await correctInvite(inside, inviteId, { recipientName: row.name })
  if (sendsAgain) await resendInvite(inside, inviteId)
}
