import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { InvitationRef } from '../secrets/invitation-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { findInvitation, toCandidateContext } from './candidate-moves.ts'
import { queueInvitationEmail } from './emails.ts'
import { limitResends, refuseConcurrentResend } from './limit-resends.ts'
import { lockInvite } from './operate-invite.ts'

/**
 * Mails a candidate who has not started the link that they have opened, so that they can open it on another device. What is mailed so counts
 * like what the organization sends again.
 *
 * @throws DomainError invite_not_found, too_many_mails.
 */
export async function sendLinkAgain(service: ServiceContext, ref: InvitationRef): Promise<void> {
  const invite = await findInvitation(service, ref)
  if (!invite) throw new DomainError('invite_not_found')
  if (invite.status !== 'pending' && invite.status !== 'accepted') return
  const ctx = toCandidateContext(service, invite)
  await refuseConcurrentResend(ctx, invite.id, () =>
    inTransaction(ctx, async (inside) => {
      await lockInvite(inside, invite.id)
      await limitResends(inside, invite)
      await queueInvitationEmail(inside, invite, 'resent')
    }),
  )
}
