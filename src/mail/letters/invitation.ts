import type { MailTexts } from '../../locales/languages.ts'
import { includesMessage } from '../fill-template.ts'
import { greeting, type Letter, linkWithButton, list, note, type Piece, paragraph, translate } from '../letter.ts'
import { shortenForSubject } from '../message.ts'
import type { CandidateFacts } from './candidate-facts.ts'
import { composeLetter } from './compose-letter.ts'

export function invitation(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment, customMessage, invitationText, url, template } = facts
  const [button, address] = linkWithButton(t, url, t.text('invitation.button'))
  const message = customMessage ? [{ kind: 'quote', text: customMessage } as const] : []
  return composeLetter(t, facts, {
    subject: t.text('invitation.subject', { organization: shortenForSubject(organization), assessment }),
    defaultText: [
      greeting(t, facts.recipientName),
      paragraph(...translate(t, 'invitation.intro', { organization, assessment })),
      ...message,
      list(...listFacts(t, facts)),
      paragraph(t.text('invitation.open')),
      button,
    ],
    button,
    facts: [...(template && includesMessage(template.body) ? [] : message), list(...listTerms(t, facts))],
    frame: [
      note(t.text('invitation.terms')),
      address,
      ...(invitationText ? [{ kind: 'closing', text: invitationText } as const] : []),
    ],
  })
}

/** Puts a notice first: the candidate has to know which of several invitations to use. */
const withNotice =
  (kind: 'resent' | 'reactivated') =>
  (t: MailTexts, facts: CandidateFacts): Letter => {
    const { subject, blocks } = invitation(t, facts)
    return {
      subject: t.text(`${kind}.subject`, { subject }),
      blocks: [{ kind: 'notice', content: [t.text(`${kind}.notice`)] }, ...blocks],
    }
  }
/** Tells a candidate that the earlier invitation no longer counts. It has no link. */
export function withdrawn(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment, message } = facts
  return composeLetter(t, facts, {
    subject: t.text('withdrawn.subject', { assessment }),
    defaultText: [
      greeting(t, facts.recipientName),
      paragraph(...translate(t, 'withdrawn.intro', { organization, assessment })),
      ...(message ? [{ kind: 'quote', text: message } as const] : []),
      paragraph(t.text('withdrawn.next')),
    ],
    button: null,
    facts: [],
    frame: [],
  })
}

export const resent = withNotice('resent')
export const reactivated = withNotice('reactivated')

const listFacts = (t: MailTexts, facts: CandidateFacts): (readonly Piece[])[] => [
  translate(t, 'invitation.facts.assessment', { assessment: facts.assessment, questions: facts.questionCount }),
  ...listTerms(t, facts),
]

function listTerms(t: MailTexts, facts: CandidateFacts): (readonly Piece[])[] {
  const { timeLimit, requirements, expiresAt, invitedBy, organization } = facts
  const neededThings = requirements.map((thing) => t.text('invitation.need', { thing }))
  return [
    timeLimit > 0
      ? translate(t, 'invitation.facts.time', { time: t.duration(timeLimit) })
      : translate(t, 'invitation.facts.unlimited'),
    ...(neededThings.length > 0 ? [translate(t, 'invitation.facts.needs', { things: t.list(neededThings) })] : []),
    translate(t, 'invitation.facts.until', { time: t.time(expiresAt) }),
    invitedBy === null || invitedBy === organization
      ? translate(t, 'invitation.facts.organization', { organization })
      : translate(t, 'invitation.facts.person', { person: invitedBy, organization }),
  ]
}
