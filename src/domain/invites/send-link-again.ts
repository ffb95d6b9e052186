import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { InvitationRef } from '../secrets/invitation-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { findInvitation, toCandidateContext } from './candidate-moves.ts'
import { queueInvitationEmail } from './emails.ts'
import { limitResends, refuseConcurrentResend } from './limit-resends.ts'
import { lockInvite } from './operate-invite.ts'

/**
 * Emails candidates the link they have opened, so that they can start on another device. Counts towards the limits of resends.
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
