import type { NoticeKind, ReminderKind } from '../../domain/mails/candidate-mails.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { type Block, greeting, type Letter, linkWithButton, list, note, paragraph, translate } from '../letter.ts'
import { shortenForSubject } from '../message.ts'
import type { CandidateFacts } from './candidate-facts.ts'
import { composeLetter } from './compose-letter.ts'

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
    const [button, address] = linkWithButton(t, facts.url, t.text(BUTTONS[kind]))
    const subject = { organization: shortenForSubject(organization), assessment }
    const terms = list(
      // A started test has no expiry date.
      ...(kind === 'not_finished' ? [] : [translate(t, 'invitation.facts.until', { time: t.time(expiresAt) })]),
      invitedBy === null || invitedBy === organization
        ? translate(t, 'invitation.facts.organization', { organization })
        : translate(t, 'invitation.facts.person', { person: invitedBy, organization }),
    )
    return composeLetter(t, facts, {
      subject: kind === 'not_accepted' ? t.text('not_accepted.subject', subject) : t.text(`${kind}.subject`, { assessment }),
      defaultText: [
        greeting(t, facts.recipientName),
        paragraph(...translate(t, `${kind}.intro`, { organization, assessment })),
        terms,
        button,
      ],
      button,
      facts: [terms],
      frame: [note(t.text('invitation.terms')), address, unsubscribeNote(t, facts)],
    })
  }

function submitted(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment, submission } = facts
  const intro = paragraph(
    ...translate(t, submission?.byClock ? 'submitted.clock' : 'submitted.intro', { organization, assessment }),
  )
  const timeFact = submission ? [list(translate(t, 'submitted.at', { time: t.time(submission.at) }))] : []
  return composeLetter(t, facts, {
    subject: t.text('submitted.subject', { assessment }),
    defaultText: [greeting(t, facts.recipientName), intro, ...timeFact, paragraph(t.text('submitted.next'))],
    button: null,
    // A custom text doesn't replace the fact that the time limit ended the test.
    facts: [...(submission?.byClock ? [intro] : []), ...timeFact],
    frame: [unsubscribeNote(t, facts)],
  })
}

/** Doesn't contain the result: other people may read the mail. */
function released(t: MailTexts, facts: CandidateFacts): Letter {
  const { organization, assessment } = facts
  const [button, address] = linkWithButton(t, facts.url, t.text('released.button'))
  return composeLetter(t, facts, {
    subject: t.text('released.subject', { assessment }),
    defaultText: [
      greeting(t, facts.recipientName),
      paragraph(...translate(t, 'released.intro', { organization, assessment })),
      paragraph(t.text('released.open')),
      button,
    ],
    button,
    facts: [],
    frame: [note(t.text('invitation.terms')), address, unsubscribeNote(t, facts)],
  })
}

export const notices: Record<NoticeKind, (t: MailTexts, facts: CandidateFacts) => Letter> = { submitted, released }

const unsubscribeNote = (t: MailTexts, { unsubscribeUrl, organization }: CandidateFacts): Block =>
  note({ link: unsubscribeUrl, content: [t.text('frame.unsubscribe', { organization })] })
