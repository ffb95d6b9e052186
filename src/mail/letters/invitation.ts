import type { MailTexts } from '../../locales/languages.ts'
import { saysMessage } from '../fill-template.ts'
import { greet, type Letter, list, note, type Piece, paragraph, say, wayIn } from '../letter.ts'
import { inSubject } from '../message.ts'
import type { CandidateFacts } from './candidate-facts.ts'
import { inWords } from './compose-letter.ts'

export function invitation(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment, customMessage, invitationText, url, template } = facts
  const [button, address] = wayIn(t, url, t.text('invitation.button'))
  const message = customMessage ? [{ kind: 'quote', text: customMessage } as const] : []
  return inWords(t, facts, {
    subject: t.text('invitation.subject', { organization: inSubject(organization), assessment }),
    ours: [
      greet(t, facts.recipientName),
      paragraph(...say(t, 'invitation.intro', { organization, assessment })),
      ...message,
      list(...listFacts(t, facts)),
      paragraph(t.text('invitation.open')),
      button,
    ],
    button,
    facts: [...(template && saysMessage(template.body) ? [] : message), list(...listTerms(t, facts))],
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
      blocks: [{ kind: 'notice', said: [t.text(`${kind}.notice`)] }, ...blocks],
    }
  }
/** Tells a candidate that the earlier invitation no longer counts. It has no link. */
export function withdrawn(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment, message } = facts
  return inWords(t, facts, {
    subject: t.text('withdrawn.subject', { assessment }),
    ours: [
      greet(t, facts.recipientName),
      paragraph(...say(t, 'withdrawn.intro', { organization, assessment })),
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
  say(t, 'invitation.facts.assessment', { assessment: facts.assessment, questions: facts.questionCount }),
  ...listTerms(t, facts),
]

function listTerms(t: MailTexts, facts: CandidateFacts): (readonly Piece[])[] {
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
