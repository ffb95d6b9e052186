import { html } from '../../html/html.ts'
import type { MailTexts } from '../../locales/languages.ts'
import { button, frame, greet, type Mail, smallPrint } from './frame.ts'

type Facts = {
  organization: string
  assessment: string
  recipientName: string | null
  customMessage: string
  /** Of the organization, below each invitation. */
  invitationText: string
  questionCount: number
  /** Of the whole, in seconds; 0: there is none. */
  timeLimit: number
  /** Who of the organization; null where nobody is known. */
  invitedBy: string | null
  expiresAt: Date
  url: string
}

export function invitation(t: MailTexts, facts: Facts): Mail {
  const { organization, assessment, customMessage, invitationText, url } = facts
  const greeting = greet(t, facts.recipientName)
  const named = { organization, assessment }
  const terms = t.text('invitation.terms')
  const listed = listFacts(t, facts)
  return {
    subject: t.text('invitation.subject', named),
    text: `${greeting}

${t.text('invitation.intro', named)}
${customMessage && `\n${customMessage}\n\n`}
${listed.join('\n')}

${t.text('invitation.open')}

${url}


${terms}
${invitationText && `\n${invitationText}\n`}`,
    html: frame(
      t,
      assessment,
      html`<p>${greeting}</p>
<p>${t.html('invitation.intro', named)}</p>
${customMessage && html`<blockquote class="quote">${customMessage}</blockquote>`}<ul class="facts">${listed.map((fact) => html`<li>${fact}</li>`)}</ul>
${button(url, t.text('invitation.button'))}${smallPrint(t, terms, url)}${
  invitationText &&
  html`<p class="closing">${invitationText}</p>
`
}`,
    ),
  }
}

/** What, how long, until when, and by whom. */
function listFacts(t: MailTexts, { assessment, questionCount, timeLimit, expiresAt, invitedBy, organization }: Facts): string[] {
  return [
    t.text('invitation.facts.assessment', { assessment, questions: questionCount }),
    timeLimit > 0 ? t.text('invitation.facts.time', { time: t.duration(timeLimit) }) : t.text('invitation.facts.unlimited'),
    t.text('invitation.facts.until', { time: t.time(expiresAt) }),
    invitedBy === null || invitedBy === organization
      ? t.text('invitation.facts.organization', { organization })
      : t.text('invitation.facts.person', { person: invitedBy, organization }),
  ]
}
