import type { FastifyReply } from 'fastify'
import type { CandidateInvite } from '../../../domain/invites/candidate-moves.ts'
import { type Html, html, toText } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { assets } from './assets.ts'

export type Page = {
  title: string
  body: Html
  /** Whether it loads the script: only where there is a session for it. */
  hasScript?: true
}

/** Whose page it is. */
export type View = {
  invite: CandidateInvite
  token: string
  /** What shows that a form comes from one of these pages. */
  proof: string
}

export const renderPage = ({ title, body, hasScript }: Page): string =>
  toText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="${assets.icon.address}">
<link rel="stylesheet" href="${assets.stylesheet.address}">
${hasScript && html`<script type="module" src="${assets.script.address}"></script>`}
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`)

export const sendPage = (reply: FastifyReply, status: number, page: Page): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(renderPage(page))

/** For a page with `data-session`. */
export const withScript = (page: Page): Page => ({ ...page, hasScript: true })

export const pathOf = ({ token }: Pick<View, 'token'>): string => `${INVITATION_PATH}/${token}`

/** A page of an invite: who invites to what at its top, whom to ask at its bottom. */
export const invitePage = ({ invite }: View, title: string, body: Html): Page => ({
  title,
  body: html`<h1>${invite.assessment.name}</h1>
<p class="from">from <strong>${invite.organization.name}</strong></p>
${body}
${contact(invite)}`,
})

function contact({ createdBy, organization }: CandidateInvite): Html {
  const person = createdBy?.user
  return html`<p class="contact">Questions? Please contact ${
    person
      ? html`${person.firstName} ${person.lastName} at ${organization.name}: <a href="${`mailto:${person.email}`}">${person.email}</a>.`
      : html`whoever invited you at ${organization.name}.`
  }</p>`
}

/** A form of one of the pages, with all that it sends. */
export const form = (
  view: View,
  action: string,
  content: Html,
): Html => html`<form method="post" action="${`${pathOf(view)}/${action}`}">
<input type="hidden" name="proof" value="${view.proof}">
${content}
</form>
`

export const hidden = (name: string, value: string | number): Html => html`<input type="hidden" name="${name}" value="${value}">`

/** A form that is one button. */
export const button = (view: View, action: string, label: string): Html =>
  form(view, action, html`<button type="submit">${label}</button>`)
