import type { InviteEmail } from '../domain/invites/emails.ts'
import { findContactOf } from '../domain/invites/find-contact.ts'
import { type CandidateMailKind, isAutomatic } from '../domain/mails/candidate-mails.ts'
import { pageLinksFor } from '../domain/ports/page-links.ts'
import { requirementsOf, toNeeds } from '../domain/submissions/needs.ts'
import { visibleName } from '../domain/text/visible-name.ts'
import { DAY_MS } from '../domain/time/days.ts'
import { withExtraTime } from '../domain/time/extra-time.ts'
import { zoneOf } from '../domain/time/zones.ts'
import { isPlainAddress } from '../domain/validation/email-address.ts'
import type { CandidateFacts } from './letters/candidate-facts.ts'
import { candidateLetters } from './letters/candidate-letters.ts'
import {
  chooseSender,
  type Mailbox,
  type MailSettings,
  type Message,
  mailBrandOf,
  renderParts,
  senderDomain,
  toHeaderText,
} from './message.ts'

/**
 * Renders a candidate's mail. The Message-ID is made of the ids of invite and mail, so a retry is the same message for all mail servers.
 *
 * @throws Error for a kind of a newer release.
 */
export function renderInviteEmail(settings: MailSettings, email: InviteEmail): Message {
  const { invite, kind } = email
  if (!isKnownKind(kind)) throw new Error(`There is no mail of the kind ${kind}`)
  const t = settings.languages.mail(email.spoken, zoneOf(invite))
  const facts = {
    organization: invite.organization.name,
    assessment: invite.assessment.name,
    recipientName: visibleName(invite.recipientName),
    message: email.message ?? '',
    customMessage: email.message ?? invite.customMessage,
    invitationText: invite.organization.invitationText ?? '',
    requirements: requirementsOf(toNeeds(settings.kinds, invite, email.answers)),
    questionCount: invite.assessment.questionCount,
    timeLimit: Math.floor(withExtraTime(invite.assessment.timeLimit, invite.extraTimePercent)),
    invitedBy: findContactOf(invite)?.name ?? null,
    expiresAt: invite.expiresAt,
    daysLeft: Math.ceil((invite.expiresAt.getTime() - email.createdAt.getTime()) / DAY_MS),
    template: email.template,
    url: settings.links.invitationUrl({ inviteId: invite.id, linkVersion: email.linkVersion }),
    submission: findSubmissionTime(email),
    unsubscribeUrl: settings.links.unsubscribeUrl(invite.id),
    links: pageLinksFor(invite.organization, t.language),
  }
  const parts = renderParts(t, candidateLetters[kind](t, facts), mailBrandOf(settings.links, invite.organization))
  return {
    messageId: `<${invite.id}.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: chooseSender(settings.mailFrom, invite.organization.senderName, invite.organization.name),
    to: { name: toHeaderText(visibleName(invite.recipientName) ?? ''), address: invite.recipientEmail },
    replyTo: replyToOf(settings, email),
    ...parts,
    headers: { ...parts.headers, ...(isAutomatic(kind) && unsubscribeHeaders(facts.unsubscribeUrl)) },
  }
}

/** One-click unsubscribe for automatic mails (RFC 8058), which requires HTTPS. */
const unsubscribeHeaders = (url: string): Record<string, string> =>
  url.startsWith('https:') ? { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}

/** `byClock`: the time limit ended the test. The sweep may have submitted it a little later. */
function findSubmissionTime({ invite, byItself }: InviteEmail): CandidateFacts['submission'] {
  const submittedAt = byItself?.submittedAt ?? invite.completedAt
  const deadlineAt = byItself?.deadlineAt
  return submittedAt && { at: submittedAt, byClock: deadlineAt != null && submittedAt >= deadlineAt }
}

const isKnownKind = (kind: string): kind is CandidateMailKind => Object.hasOwn(candidateLetters, kind)

function replyToOf({ mailFrom }: MailSettings, { invite }: InviteEmail): string | Mailbox {
  const contact = findContactOf(invite)
  return contact && isPlainAddress(contact.address) ? { ...contact, name: toHeaderText(contact.name) } : mailFrom
}
