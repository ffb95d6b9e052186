import { timeInWords } from '../domain/format-time.ts'
import type { InviteEmail } from '../domain/invites/emails.ts'
import { invitationUrl } from '../domain/invites/links.ts'
import { headerText, type MailSettings, type Message, renderTemplates, senderDomain } from './message.ts'

/**
 * The mail of one sending, the same however often it is rendered: its Message-ID comes from the invite and the sending, so that a
 * retry is the same message to every mail server on the way.
 */
export function renderInvitation(settings: MailSettings, email: InviteEmail): Message {
  const { invite } = email
  const facts = {
    organization: invite.organization.name,
    assessment: invite.assessment.name,
    recipientName: invite.recipientName,
    customMessage: invite.customMessage,
    questionCount: invite.assessment.questionCount,
    expiresAt: timeInWords(invite.expiresAt),
    url: invitationUrl(settings, { inviteId: invite.id, linkVersion: email.linkVersion }),
  }
  const creator = invite.createdBy?.user
  return {
    messageId: `<${invite.id}.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: settings.mailFrom,
    to: { name: headerText(invite.recipientName ?? ''), address: invite.recipientEmail },
    replyTo: creator
      ? { name: headerText(`${creator.firstName} ${creator.lastName}`), address: creator.email }
      : settings.mailFrom,
    ...renderTemplates('invitation', facts),
  }
}
