import { html } from '../../html/html.ts'
import { button, frame, greet, type Mail, smallPrint } from './frame.ts'

type Facts = { name: string; organization: string; url: string; expiresAt: string }

/** To somebody who was made a member. */
export function join({ name, organization, url, expiresAt }: Facts): Mail {
  const subject = `${organization} invites you to its assessments portal`
  const done = ' has made you a member of its assessments portal. Open your personal link to set your name and a password'
  const terms = `The link is good once, until ${expiresAt}. It is meant for you alone: please do not forward it.`
  return {
    subject,
    text: textOf(name, `${organization}${done}:`, url, terms),
    html: frame(
      subject,
      html`<p>${greet(name)}</p>
<p><strong>${organization}</strong>${done}.</p>
${button(url, 'Join the portal')}${smallPrint(terms, url)}`,
    ),
  }
}

/** To a member whose password is to be set anew. */
export function reset({ name, url, expiresAt }: Facts): Mail {
  const subject = 'Set a new password'
  const why = 'Somebody, hopefully you, has asked for a new password for your account in the assessments portal.'
  const terms = `The link is good once, until ${expiresAt}. If it was not you, there is nothing to do: your password stays as it is.`
  return {
    subject,
    text: textOf(name, `${why} Open this link to set one:`, url, terms),
    html: frame(
      subject,
      html`<p>${greet(name)}</p>
<p>${why}</p>
${button(url, subject)}${smallPrint(terms, url)}`,
    ),
  }
}

const textOf = (name: string, why: string, url: string, terms: string) => `${greet(name)}

${why}

${url}


${terms}
`
