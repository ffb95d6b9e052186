import { html } from '../../html/html.ts'
import { button, frame, greet, type Mail, smallPrint } from './frame.ts'

type Facts = {
  organization: string
  assessment: string
  recipientName: string | null
  customMessage: string
  /** Of the organization, below each invitation. */
  invitationText: string
  questionCount: number
  expiresAt: string
  url: string
}

export function invitation(facts: Facts): Mail {
  const { organization, assessment, customMessage, invitationText, questionCount, url } = facts
  const greeting = greet(facts.recipientName)
  const size = questionCount > 0 ? ` (${questionCount} ${questionCount === 1 ? 'question' : 'questions'})` : ''
  const terms = `The invitation is open until ${facts.expiresAt}. The link is meant for you alone: please do not forward it.`
  return {
    subject: `${organization} invites you to: ${assessment}`,
    text: `${greeting}

${organization} invites you to take the assessment "${assessment}"${size}.
${customMessage && `\n${customMessage}\n\n`}
Open your personal link to accept or decline:

${url}


${terms}
${invitationText && `\n${invitationText}\n`}`,
    html: frame(
      assessment,
      html`<p>${greeting}</p>
<p><strong>${organization}</strong> invites you to take the assessment <strong>${assessment}</strong>${size}.</p>
${customMessage && html`<blockquote style="margin:16px 0;padding:8px 16px;border-left:4px solid #d1d5db;white-space:pre-wrap">${customMessage}</blockquote>`}${button(url, 'Open the invitation')}${smallPrint(terms, url)}${
  invitationText &&
  html`<p style="font-size:14px;color:#4b5563;white-space:pre-wrap;border-top:1px solid #d1d5db;padding-top:16px">${invitationText}</p>
`
}`,
    ),
  }
}
