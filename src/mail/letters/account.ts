import type { MailTexts } from '../../locales/languages.ts'
import { greeting, type Letter, linkWithButton, note, paragraph, translate } from '../letter.ts'
import { shortenForSubject } from '../message.ts'

type AccountFacts = { name: string; organization: string; url: string; expiresAt: Date }

/** Invites a new member. */
export const memberInvitation = (t: MailTexts, facts: AccountFacts): Letter => ({
  subject: t.text('join.subject', { organization: shortenForSubject(facts.organization) }),
  blocks: [
    greeting(t, facts.name),
    paragraph(...translate(t, 'join.intro', { organization: facts.organization })),
    paragraph(t.text('join.open')),
    ...oneTimeLink(t, 'join', facts),
  ],
})

export const passwordReset = (t: MailTexts, facts: AccountFacts): Letter => ({
  subject: t.text('reset.subject'),
  blocks: [
    greeting(t, facts.name),
    paragraph(t.text('reset.intro')),
    paragraph(t.text('reset.open')),
    ...oneTimeLink(t, 'reset', facts),
  ],
})

function oneTimeLink(t: MailTexts, kind: 'join' | 'reset', { url, expiresAt }: AccountFacts) {
  const [button, address] = linkWithButton(t, url, t.text(`${kind}.button`))
  return [button, note(...translate(t, `${kind}.terms`, { time: t.time(expiresAt) })), address]
}
