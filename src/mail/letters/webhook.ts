import type { MailTexts } from '../../locales/languages.ts'
import { greet, type Letter, type Piece, paragraph, say } from '../letter.ts'
import { inSubject } from '../message.ts'

type Facts = { name: string; organization: string; host: string; failingSince: Date | null; isGone: boolean }

/** Tells admins that a webhook has been failing for a day. */
export const webhookFailing = (t: MailTexts, { name, organization, host, failingSince }: Facts): Letter =>
  tell(t, name, {
    subject: t.text('webhook.failing.subject', { organization: inSubject(organization) }),
    what: say(t, 'webhook.failing.what', { host, time: timeOf(t, failingSince) }),
    next: t.text('webhook.failing.next'),
  })

/** Tells admins that a webhook was disabled. */
export const webhookDisabled = (t: MailTexts, { name, organization, host, failingSince, isGone }: Facts): Letter =>
  tell(t, name, {
    subject: t.text('webhook.disabled.subject', { organization: inSubject(organization) }),
    what: isGone
      ? say(t, 'webhook.disabled.gone', { host })
      : say(t, 'webhook.disabled.what', { host, time: timeOf(t, failingSince) }),
    next: t.text('webhook.disabled.next'),
  })

/** `failingSince` is set for all mails that use it. */
const timeOf = (t: MailTexts, failingSince: Date | null): string => (failingSince ? t.time(failingSince) : '')

type Said = { subject: string; what: readonly Piece[]; next: string }

const tell = (t: MailTexts, name: string, { subject, what, next }: Said): Letter => ({
  subject,
  blocks: [greet(t, name), paragraph(...what), paragraph(next)],
})
