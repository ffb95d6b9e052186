import type { MailTexts } from '../../locales/languages.ts'
import { greeting, type Letter, type Piece, paragraph, translate } from '../letter.ts'
import { shortenForSubject } from '../message.ts'

type WebhookFacts = { name: string; organization: string; host: string; failingSince: Date | null; isGone: boolean }

/** Notifies admins that a webhook has been failing for a day. */
export const webhookFailing = (t: MailTexts, { name, organization, host, failingSince }: WebhookFacts): Letter =>
  failureLetter(t, name, {
    subject: t.text('webhook.failing.subject', { organization: shortenForSubject(organization) }),
    summary: translate(t, 'webhook.failing.what', { host, time: formatFailingSince(t, failingSince) }),
    next: t.text('webhook.failing.next'),
  })

/** Tells admins that a webhook was disabled. */
export const webhookDisabled = (t: MailTexts, { name, organization, host, failingSince, isGone }: WebhookFacts): Letter =>
  failureLetter(t, name, {
    subject: t.text('webhook.disabled.subject', { organization: shortenForSubject(organization) }),
    summary: isGone
      ? translate(t, 'webhook.disabled.gone', { host })
      : translate(t, 'webhook.disabled.what', { host, time: formatFailingSince(t, failingSince) }),
    next: t.text('webhook.disabled.next'),
  })

/** `failingSince` is set for all mails that use it. */
const formatFailingSince = (t: MailTexts, failingSince: Date | null): string => (failingSince ? t.time(failingSince) : '')

type FailureText = { subject: string; summary: readonly Piece[]; next: string }

const failureLetter = (t: MailTexts, name: string, { subject, summary, next }: FailureText): Letter => ({
  subject,
  blocks: [greeting(t, name), paragraph(...summary), paragraph(next)],
})
