import { html } from '../../html/html.ts'
import { frame, greet, type Mail } from './frame.ts'

type Facts = { name: string; organization: string; host: string; failingSince: string | null; isGone: boolean }

/** To the admins of an organization: a webhook of theirs has been failing for a day. */
export const webhookFailing = ({ name, organization, host, failingSince }: Facts): Mail =>
  tell(`A webhook of ${organization} has been failing`, name, host, {
    what: ` has answered every attempt since ${failingSince} with a failure, or not at all.`,
    next: 'Events are still being sent to it. After five days of nothing but failures it is disabled. What each attempt was answered with is among its deliveries.',
  })

/** To the admins of an organization: a webhook of theirs was disabled. */
export const webhookDisabled = ({ name, organization, host, failingSince, isGone }: Facts): Mail =>
  tell(`A webhook of ${organization} was disabled`, name, host, {
    what: ` was disabled: ${isGone ? 'it answered that it is gone (410)' : `every attempt since ${failingSince} has failed`}.`,
    next: 'No events are sent to it any more. When it has been enabled again, what it missed can be replayed.',
  })

const tell = (subject: string, name: string, host: string, { what, next }: { what: string; next: string }): Mail => ({
  subject,
  text: `${greet(name)}

The webhook to ${host}${what}

${next}
`,
  html: frame(
    subject,
    html`<p>${greet(name)}</p>
<p>The webhook to <strong>${host}</strong>${what}</p>
<p>${next}</p>
`,
  ),
})
