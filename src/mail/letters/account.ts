import type { MailTexts } from '../../locales/languages.ts'
import { greet, type Letter, note, paragraph, say, wayIn } from '../letter.ts'
import { inSubject } from '../message.ts'

type Facts = { name: string; organization: string; url: string; expiresAt: Date }

/** Invites a new member. */
export const join = (t: MailTexts, facts: Facts): Letter => ({
  subject: t.text('join.subject', { organization: inSubject(facts.organization) }),
  blocks: [
    greet(t, facts.name),
    paragraph(...say(t, 'join.intro', { organization: facts.organization })),
    paragraph(t.text('join.open')),
    ...linkOnce(t, 'join', facts),
  ],
})

export const reset = (t: MailTexts, facts: Facts): Letter => ({
  subject: t.text('reset.subject'),
  blocks: [
    greet(t, facts.name),
    paragraph(t.text('reset.intro')),
    paragraph(t.text('reset.open')),
    ...linkOnce(t, 'reset', facts),
  ],
})

function linkOnce(t: MailTexts, kind: 'join' | 'reset', { url, expiresAt }: Facts) {
  const [button, address] = wayIn(t, url, t.text(`${kind}.button`))
  return [button, note(...say(t, `${kind}.terms`, { time: t.time(expiresAt) })), address]
}
