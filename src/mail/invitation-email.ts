import type { InviteEmail } from '../domain/invites/emails.ts'
import { whomToAsk } from '../domain/invites/whom-to-ask.ts'
import { withExtraTime } from '../domain/values/extra-time.ts'
import { headerText, type Mailbox, type MailSettings, type Message, partsOf, senderDomain, senderNamed } from './message.ts'
import { invitation } from './templates/invitation.ts'

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
    invitationText: invite.organization.invitationText ?? '',
    questionCount: invite.assessment.questionCount,
    timeLimit: Math.floor(withExtraTime(invite.assessment.timeLimit, invite.extraTimePercent)),
    invitedBy: whomToAsk(invite)?.name ?? null,
    expiresAt: invite.expiresAt,
    url: settings.links.invitationUrl({ inviteId: invite.id, linkVersion: email.linkVersion }),
  }
  return {
    messageId: `<${invite.id}.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: senderNamed(settings.mailFrom, invite.organization.senderName, invite.organization.name),
    to: { name: headerText(invite.recipientName ?? ''), address: invite.recipientEmail },
    replyTo: replyToOf(settings, email),
    ...partsOf(settings.t, invitation, facts),
  }
}

function replyToOf({ mailFrom }: MailSettings, { invite }: InviteEmail): string | Mailbox {
  const contact = whomToAsk(invite)
  return contact ? { ...contact, name: headerText(contact.name) } : mailFrom
}
