import type { InviteEmail } from '../domain/invites/emails.ts'
import { whomToAsk } from '../domain/invites/whom-to-ask.ts'
import { type CandidateMailKind, comesByItself } from '../domain/mails/candidate-mails.ts'
import { pageLinksFor } from '../domain/ports/page-links.ts'
import { needsOf, requirementsOf } from '../domain/submissions/needs.ts'
import { visibleName } from '../domain/text/visible-name.ts'
import { DAY_MS } from '../domain/time/days.ts'
import { zoneOf } from '../domain/time/zones.ts'
import { isPlainAddress } from '../domain/validation/email-address.ts'
import { withExtraTime } from '../domain/values/extra-time.ts'
import type { CandidateFacts } from './letters/facts.ts'
import { candidateLetters } from './letters/to-candidates.ts'
import {
  headerText,
  type Mailbox,
  type MailSettings,
  type Message,
  mailBrandOf,
  partsOf,
  senderDomain,
  senderNamed,
} from './message.ts'

/**
 * The mail of one sending, the same however often it is rendered: its Message-ID comes from the invite and the sending, so that a
 * retry is the same message to every mail server on the way.
 *
 * @throws Error for a kind that only a newer release knows.
 */
export function renderInviteEmail(settings: MailSettings, email: InviteEmail): Message {
  const { invite, kind } = email
  if (!isKnown(kind)) throw new Error(`There is no mail of the kind ${kind}`)
  const t = settings.languages.mail(email.spoken, zoneOf(invite))
  const facts = {
    organization: invite.organization.name,
    assessment: invite.assessment.name,
    recipientName: visibleName(invite.recipientName),
    message: email.message ?? '',
    customMessage: email.message ?? invite.customMessage,
    invitationText: invite.organization.invitationText ?? '',
    requirements: requirementsOf(needsOf(settings.kinds, invite, email.answers)),
    questionCount: invite.assessment.questionCount,
    timeLimit: Math.floor(withExtraTime(invite.assessment.timeLimit, invite.extraTimePercent)),
    invitedBy: whomToAsk(invite)?.name ?? null,
    expiresAt: invite.expiresAt,
    daysLeft: Math.ceil((invite.expiresAt.getTime() - email.createdAt.getTime()) / DAY_MS),
    template: email.template,
    url: settings.links.invitationUrl({ inviteId: invite.id, linkVersion: email.linkVersion }),
    handedIn: handedInOf(email),
    unsubscribeUrl: settings.links.unsubscribeUrl(invite.id),
    links: pageLinksFor(invite.organization, t.language),
  }
  const parts = partsOf(t, candidateLetters[kind](t, facts), mailBrandOf(settings.links, invite.organization))
  return {
    messageId: `<${invite.id}.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: senderNamed(settings.mailFrom, invite.organization.senderName, invite.organization.name),
    to: { name: headerText(visibleName(invite.recipientName) ?? ''), address: invite.recipientEmail },
    replyTo: replyToOf(settings, email),
    ...parts,
    headers: { ...parts.headers, ...(comesByItself(kind) && wayOutBy(facts.unsubscribeUrl)) },
  }
}

/** RFC 8058: one click in a mail program stops what comes by itself. Without HTTPS the standard knows no such thing. */
const wayOutBy = (url: string): Record<string, string> =>
  url.startsWith('https:') ? { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}

/** What was handed in by the clock was so at the end of its time, or a little later. */
function handedInOf({ invite, byItself }: InviteEmail): CandidateFacts['handedIn'] {
  const at = byItself?.submittedAt ?? invite.completedAt
  const deadlineAt = byItself?.deadlineAt
  return at && { at, byClock: deadlineAt != null && at >= deadlineAt }
}

const isKnown = (kind: string): kind is CandidateMailKind => Object.hasOwn(candidateLetters, kind)

function replyToOf({ mailFrom }: MailSettings, { invite }: InviteEmail): string | Mailbox {
  const contact = whomToAsk(invite)
  return contact && isPlainAddress(contact.address) ? { ...contact, name: headerText(contact.name) } : mailFrom
}
