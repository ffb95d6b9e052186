import type { NoticeKind, ReminderKind } from '../../domain/mails/candidate-mails.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { type Block, greet, type Letter, list, note, paragraph, say, wayIn } from '../letter.ts'
import { inSubject } from '../message.ts'
import type { CandidateFacts } from './candidate-facts.ts'
import { inWords } from './compose-letter.ts'

// Automatic mails. Each has an unsubscribe link.

const BUTTONS = {
  not_accepted: 'invitation.button',
  not_started: 'not_started.button',
  not_finished: 'not_finished.button',
} as const satisfies Record<ReminderKind, string>

/** Reminds a candidate to accept, start, or finish. */
export const reminder =
  (kind: ReminderKind) =>
  (t: MailTexts, facts: CandidateFacts): Letter => {
    const { organization, assessment, expiresAt, invitedBy } = facts
    const [button, address] = wayIn(t, facts.url, t.text(BUTTONS[kind]))
    const subject = { organization: inSubject(organization), assessment }
    const terms = list(
      // A started test has no expiry date.
      ...(kind === 'not_finished' ? [] : [say(t, 'invitation.facts.until', { time: t.time(expiresAt) })]),
      invitedBy === null || invitedBy === organization
        ? say(t, 'invitation.facts.organization', { organization })
        : say(t, 'invitation.facts.person', { person: invitedBy, organization }),
    )
    return inWords(t, facts, {
      subject: kind === 'not_accepted' ? t.text('not_accepted.subject', subject) : t.text(`${kind}.subject`, { assessment }),
      ours: [greet(t, facts.recipientName), paragraph(...say(t, `${kind}.intro`, { organization, assessment })), terms, button],
      button,
      facts: [terms],
      frame: [note(t.text('invitation.terms')), address, wayOut(t, facts)],
    })
  }

function submitted(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment, handedIn } = facts
  const intro = paragraph(...say(t, handedIn?.byClock ? 'submitted.clock' : 'submitted.intro', { organization, assessment }))
  const at = handedIn ? [list(say(t, 'submitted.at', { time: t.time(handedIn.at) }))] : []
  return inWords(t, facts, {
    subject: t.text('submitted.subject', { assessment }),
    ours: [greet(t, facts.recipientName), intro, ...at, paragraph(t.text('submitted.next'))],
    button: null,
    // A custom text doesn't replace the fact that the time limit ended the test.
    facts: [...(handedIn?.byClock ? [intro] : []), ...at],
    frame: [wayOut(t, facts)],
  })
}

/** Doesn't contain the result: other people may read the mail. */
function released(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment } = facts
  const [button, address] = wayIn(t, facts.url, t.text('released.button'))
  return inWords(t, facts, {
    subject: t.text('released.subject', { assessment }),
    ours: [
      greet(t, facts.recipientName),
      paragraph(...say(t, 'released.intro', { organization, assessment })),
      paragraph(t.text('released.open')),
      button,
    ],
    button,
    facts: [],
    frame: [note(t.text('invitation.terms')), address, wayOut(t, facts)],
  })
}

export const notices: Record<NoticeKind, (t: MailTexts, facts: CandidateFacts) => Letter> = { submitted, released }

const wayOut = (t: MailTexts, { unsubscribeUrl, organization }: CandidateFacts): Block =>
  note({ link: unsubscribeUrl, within: [t.text('frame.unsubscribe', { organization })] })
