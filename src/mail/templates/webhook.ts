import { type Html, html } from '../../html/html.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { frame, greet, type Mail } from './frame.ts'

type Facts = { name: string; organization: string; host: string; failingSince: Date | null; isGone: boolean }

/** To the admins of an organization: a webhook of theirs has been failing for a day. */
export function webhookFailing(t: MailTexts, { name, organization, host, failingSince }: Facts): Mail {
  const facts = { host, time: timeOf(t, failingSince) }
  return tell(t, name, {
    subject: t.text('webhook.failing.subject', { organization }),
    what: [t.text('webhook.failing.what', facts), t.html('webhook.failing.what', facts)],
    next: t.text('webhook.failing.next'),
  })
}

/** To the admins of an organization: a webhook of theirs was disabled. */
export function webhookDisabled(t: MailTexts, { name, organization, host, failingSince, isGone }: Facts): Mail {
  const facts = { host, time: timeOf(t, failingSince) }
  return tell(t, name, {
    subject: t.text('webhook.disabled.subject', { organization }),
    what: isGone
      ? [t.text('webhook.disabled.gone', { host }), t.html('webhook.disabled.gone', { host })]
      : [t.text('webhook.disabled.what', facts), t.html('webhook.disabled.what', facts)],
    next: t.text('webhook.disabled.next'),
  })
}

/** It is there for all that is said of failures. */
const timeOf = (t: MailTexts, failingSince: Date | null): string => (failingSince ? t.time(failingSince) : '')

type Said = { subject: string; what: [text: string, html: Html]; next: string }

const tell = (t: MailTexts, name: string, { subject, what: [text, marked], next }: Said): Mail => ({
  subject,
  text: `${greet(t, name)}

${text}

${next}
`,
  html: frame(
    t,
    subject,
    html`<p>${greet(t, name)}</p>
<p>${marked}</p>
<p>${next}</p>
`,
  ),
})
