import type { NoticeKind, ReminderKind } from '../../domain/mails/candidate-mails.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { type Block, greet, type Letter, list, note, paragraph, say, wayIn } from '../letter.ts'
import { inSubject } from '../message.ts'

// What comes without anybody having asked for it: each has a way to stop it.

export type OwnFacts = {
  organization: string
  assessment: string
  recipientName: string | null
  /** Who of the organization; null where nobody is known. */
  invitedBy: string | null
  expiresAt: Date
  /** When it was handed in, and whether that was by the clock; null: it was not. */
  handedIn: { at: Date; byClock: boolean } | null
  url: string
  unsubscribeUrl: string
}

const BUTTONS = {
  not_accepted: 'invitation.button',
  not_started: 'not_started.button',
  not_finished: 'not_finished.button',
} as const satisfies Record<ReminderKind, string>

/** To a candidate who has not done yet what an invite is for. */
export const reminder =
  (kind: ReminderKind) =>
  (t: MailTexts, facts: OwnFacts): Letter => {
    const { organization, assessment, expiresAt, invitedBy } = facts
    const [button, address] = wayIn(t, facts.url, t.text(BUTTONS[kind]))
    const subject = { organization: inSubject(organization), assessment }
    return {
      subject: kind === 'not_accepted' ? t.text('not_accepted.subject', subject) : t.text(`${kind}.subject`, { assessment }),
      blocks: [
        greet(t, facts.recipientName),
        paragraph(...say(t, `${kind}.intro`, { organization, assessment })),
        list(
          // What was started stays open.
          ...(kind === 'not_finished' ? [] : [say(t, 'invitation.facts.until', { time: t.time(expiresAt) })]),
          invitedBy === null || invitedBy === organization
            ? say(t, 'invitation.facts.organization', { organization })
            : say(t, 'invitation.facts.person', { person: invitedBy, organization }),
        ),
        button,
        note(t.text('invitation.terms')),
        address,
        wayOut(t, facts),
      ],
    }
  }

const submitted = (t: MailTexts, facts: OwnFacts): Letter => {
  const { organization, assessment, handedIn } = facts
  return {
    subject: t.text('submitted.subject', { assessment }),
    blocks: [
      greet(t, facts.recipientName),
      paragraph(...say(t, handedIn?.byClock ? 'submitted.clock' : 'submitted.intro', { organization, assessment })),
      ...(handedIn ? [list(say(t, 'submitted.at', { time: t.time(handedIn.at) }))] : []),
      paragraph(t.text('submitted.next')),
      wayOut(t, facts),
    ],
  }
}

/** Never what the result is: mails are read by others, too. */
const released = (t: MailTexts, facts: OwnFacts): Letter => {
  const { organization, assessment } = facts
  const [button, address] = wayIn(t, facts.url, t.text('released.button'))
  return {
    subject: t.text('released.subject', { assessment }),
    blocks: [
      greet(t, facts.recipientName),
      paragraph(...say(t, 'released.intro', { organization, assessment })),
      paragraph(t.text('released.open')),
      button,
      note(t.text('invitation.terms')),
      address,
      wayOut(t, facts),
    ],
  }
}

export const notices: Record<NoticeKind, (t: MailTexts, facts: OwnFacts) => Letter> = { submitted, released }

const wayOut = (t: MailTexts, { unsubscribeUrl, organization }: OwnFacts): Block =>
  note({ link: unsubscribeUrl, within: [t.text('frame.unsubscribe', { organization })] })
