import { html } from '../../html/html.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { button, frame, greet, type Mail, smallPrint } from './frame.ts'

type Facts = { name: string; organization: string; url: string; expiresAt: Date }

/** To somebody who was made a member. */
export const join = (t: MailTexts, facts: Facts): Mail => leadOn(t, 'join', facts)

/** To a member whose password is to be set anew. */
export const reset = (t: MailTexts, facts: Facts): Mail => leadOn(t, 'reset', facts)

/** A mail with a link that is good once. */
function leadOn(t: MailTexts, kind: 'join' | 'reset', { name, organization, url, expiresAt }: Facts): Mail {
  const subject = kind === 'join' ? t.text('join.subject', { organization }) : t.text('reset.subject')
  const intro = kind === 'join' ? t.html('join.intro', { organization }) : t.text('reset.intro')
  const open = t.text(`${kind}.open`)
  const terms = t.text(`${kind}.terms`, { time: t.time(expiresAt) })
  return {
    subject,
    text: `${greet(t, name)}

${kind === 'join' ? t.text('join.intro', { organization }) : t.text('reset.intro')} ${open}

${url}


${terms}
`,
    html: frame(
      t,
      subject,
      html`<p>${greet(t, name)}</p>
<p>${intro} ${open}</p>
${button(url, t.text(`${kind}.button`))}${smallPrint(t, terms, url)}`,
    ),
  }
}
