import type { Requirement } from '../../domain/submissions/needs.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { fillTemplate, saysMessage } from '../fill-template.ts'
import { greet, type Letter, list, note, type Piece, paragraph, say, wayIn } from '../letter.ts'
import { inSubject } from '../message.ts'

export type InvitationFacts = {
  organization: string
  assessment: string
  recipientName: string | null
  customMessage: string
  /** Of the organization, below each invitation. */
  invitationText: string
  questionCount: number
  /** Of the whole, in seconds; 0: there is none. */
  timeLimit: number
  /** What a candidate has to have, or to let be seen. */
  requirements: readonly Requirement[]
  /** Who of the organization; null where nobody is known. */
  invitedBy: string | null
  expiresAt: Date
  /** Until then, from when it was queued. */
  daysLeft: number
  url: string
  /** The organization's own text; null: ours. */
  template: { subject: string; body: string } | null
}

/** To a candidate: in the organization's own words, where it has any. */
export const invitation = (t: MailTexts, facts: InvitationFacts): Letter =>
  facts.template ? inOwnWords(t, facts, facts.template) : inOurs(t, facts)

function inOurs(t: MailTexts, facts: InvitationFacts): Letter {
  const { organization, assessment, customMessage, invitationText, url } = facts
  const [button, address] = wayIn(t, url, t.text('invitation.button'))
  return {
    subject: t.text('invitation.subject', { organization: inSubject(organization), assessment }),
    blocks: [
      greet(t, facts.recipientName),
      paragraph(...say(t, 'invitation.intro', { organization, assessment })),
      ...(customMessage ? [{ kind: 'quote', text: customMessage } as const] : []),
      list(...listFacts(t, facts)),
      paragraph(t.text('invitation.open')),
      button,
      note(t.text('invitation.terms')),
      address,
      ...(invitationText ? [{ kind: 'closing', text: invitationText } as const] : []),
    ],
  }
}

/** What nobody can edit away stands below: what is needed, until when, by whom, the address in full, and that it is meant for one alone. */
function inOwnWords(t: MailTexts, facts: InvitationFacts, template: { subject: string; body: string }): Letter {
  const { customMessage, invitationText } = facts
  const [button, address] = wayIn(t, facts.url, t.text('invitation.button'))
  const { subject, blocks } = fillTemplate(template, valuesOf(t, facts), button)
  return {
    subject: subject.trim() || inOurs(t, facts).subject,
    blocks: [
      ...blocks,
      ...(customMessage && !saysMessage(template.body) ? [{ kind: 'quote', text: customMessage } as const] : []),
      list(...listTerms(t, facts)),
      note(t.text('invitation.terms')),
      address,
      ...(invitationText ? [{ kind: 'closing', text: invitationText } as const] : []),
    ],
  }
}

const valuesOf = (t: MailTexts, facts: InvitationFacts) => ({
  candidate_name: facts.recipientName ?? '',
  assessment: facts.assessment,
  organization: facts.organization,
  sender_name: facts.invitedBy ?? '',
  question_count: facts.questionCount > 0 ? String(facts.questionCount) : '',
  time_limit: facts.timeLimit > 0 ? t.duration(facts.timeLimit) : '',
  expires_at: t.time(facts.expiresAt),
  expires_in: t.days(facts.daysLeft),
  message: facts.customMessage,
})

/** Which of their mails a candidate has to use, before anything else is read: that once more, or the one of an invite that is open again. */
const withNotice =
  (kind: 'resent' | 'reactivated') =>
  (t: MailTexts, facts: InvitationFacts): Letter => {
    const { subject, blocks } = invitation(t, facts)
    return {
      subject: t.text(`${kind}.subject`, { subject }),
      blocks: [{ kind: 'notice', said: [t.text(`${kind}.notice`)] }, ...blocks],
    }
  }
export const resent = withNotice('resent')
export const reactivated = withNotice('reactivated')

/** What, how long, with what, until when, and by whom. */
const listFacts = (t: MailTexts, facts: InvitationFacts): (readonly Piece[])[] => [
  say(t, 'invitation.facts.assessment', { assessment: facts.assessment, questions: facts.questionCount }),
  ...listTerms(t, facts),
]

function listTerms(t: MailTexts, facts: InvitationFacts): (readonly Piece[])[] {
  const { timeLimit, requirements, expiresAt, invitedBy, organization } = facts
  const things = requirements.map((thing) => t.text('invitation.need', { thing }))
  return [
    timeLimit > 0 ? say(t, 'invitation.facts.time', { time: t.duration(timeLimit) }) : say(t, 'invitation.facts.unlimited'),
    ...(things.length > 0 ? [say(t, 'invitation.facts.needs', { things: t.list(things) })] : []),
    say(t, 'invitation.facts.until', { time: t.time(expiresAt) }),
    invitedBy === null || invitedBy === organization
      ? say(t, 'invitation.facts.organization', { organization })
      : say(t, 'invitation.facts.person', { person: invitedBy, organization }),
  ]
}
