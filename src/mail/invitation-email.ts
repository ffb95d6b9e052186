import path from 'node:path'
import { Eta } from 'eta'
import { timeInWords } from '../domain/format-time.ts'
import type { InviteEmail } from '../domain/invites/emails.ts'
import { invitationUrl, type LinkSettings } from '../domain/invites/links.ts'

type Mailbox = { name: string; address: string }

/** A rendered invitation, in the shape nodemailer takes. */
export type InvitationMessage = {
  messageId: string
  from: string
  to: Mailbox
  replyTo: string | Mailbox
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}

export type MailSettings = LinkSettings & { mailFrom: string }

const LOCALE = 'en'
/** Characters, not UTF-16 units: half a pair would be no text. */
const MAX_HEADER_TEXT = 150
const views = path.join(import.meta.dirname, 'templates', LOCALE)
const html = new Eta({ views, cache: true, autoEscape: true })
const plain = new Eta({ views, cache: true, autoEscape: false, autoTrim: false })

/**
 * The mail of one sending, the same however often it is rendered: its Message-ID comes from the invite and the sending, so that a
 * retry is the same message to every mail server on the way.
 */
export function renderInvitation(settings: MailSettings, email: InviteEmail): InvitationMessage {
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
    subject: headerText(plain.render('./invitation.subject.eta', facts)),
    text: plain.render('./invitation.txt.eta', facts),
    html: html.render('./invitation.html.eta', facts),
    // RFC 3834: tells vacation responders and the like not to answer a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/**
 * Text that cannot break or disguise a header: no control characters, no marks that change the reading direction, nothing that reads
 * as an encoded word (RFC 2047), which could hold all of these; not too long.
 */
function headerText(text: string): string {
  const visible = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/=(?=\?)/g, '= ')
    .replace(/\s+/g, ' ')
    .trim()
  return [...visible].slice(0, MAX_HEADER_TEXT).join('')
}

const senderDomain = (mailFrom: string): string => /@([^\s>]+)/.exec(mailFrom)?.[1] ?? 'localhost'
