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
  expiresAt: Date
  url: string
}

export function invitation(t: MailTexts, facts: Facts): Mail {
  const { organization, assessment, customMessage, invitationText, questionCount: questions, url } = facts
  const greeting = greet(t, facts.recipientName)
  const named = { organization, assessment }
  const terms = t.text('invitation.terms', { time: t.time(facts.expiresAt) })
  return {
    subject: t.text('invitation.subject', named),
    text: `${greeting}

${questions > 0 ? t.text('invitation.intro', { ...named, questions }) : t.text('invitation.intro.empty', named)}
${customMessage && `\n${customMessage}\n\n`}
${t.text('invitation.open')}

${url}


${terms}
${invitationText && `\n${invitationText}\n`}`,
    html: frame(
      t,
      assessment,
      html`<p>${greeting}</p>
<p>${questions > 0 ? t.html('invitation.intro', { ...named, questions }) : t.html('invitation.intro.empty', named)}</p>
${customMessage && html`<blockquote class="quote">${customMessage}</blockquote>`}${button(url, t.text('invitation.button'))}${smallPrint(t, terms, url)}${
  invitationText &&
  html`<p class="closing">${invitationText}</p>
`
}`,
    ),
  }
}
