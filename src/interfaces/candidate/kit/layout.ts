import type { FastifyReply } from 'fastify'
import type { CandidateInvite } from '../../../domain/invites/candidate-moves.ts'
import { type Inviter, whomToAsk } from '../../../domain/invites/whom-to-ask.ts'
import type { Terms } from '../../../domain/submissions/needs.ts'
import { type Html, html, toText } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { assets, preload } from './assets.ts'

export type Page = {
  language: string
  title: string
  body: Html
  /** What stands above it, also when another page takes its place. */
  above?: Html
  /** Whether it loads the script: only where there is a session for it. */
  hasScript?: true
}

/** What pages show of an invite; of one that is only previewed there is no more. */
export type ShownInvite = Terms &
  Pick<
    CandidateInvite,
    | 'recipientName'
    | 'customMessage'
    | 'expiresAt'
    | 'completedAt'
    | 'returnUrl'
    | 'questionReplayLimit'
    | 'answerRecordLimit'
    | 'extraTimePercent'
    | 'waivedChecks'
  > & {
    assessment: Omit<CandidateInvite['assessment'], 'instruction'> & { instruction: { title: string; body: string } | null }
  } & Inviter

/** Whose page it is, and in whose language. */
export type View = {
  t: CandidateTexts
  invite: ShownInvite
  token: string
  /** What shows that a form comes from one of these pages. */
  proof: string
}

export const renderPage = ({ language, title, body, above, hasScript }: Page): string =>
  toText(html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="${assets.icon.address}">
<link rel="stylesheet" href="${assets.stylesheet.address}">
${hasScript && html`${preload('chunk')}<script type="module" src="${assets.script.address}"></script>`}
</head>
<body>
${above}<main class="min-h-dvh">
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
export const invitePage = (view: View, title: string, body: Html): Page =>
  headedPage(view, title, { above: view.t.text('layout.invites'), heading: view.invite.assessment.name, body })

/** A page of an invite that is over: its heading says what has happened. */
export const endedPage = (view: View, title: string, heading: string, body: Html): Page =>
  headedPage(view, title, { above: view.invite.assessment.name, heading, body })

const headedPage = (
  { t, invite }: View,
  title: string,
  { above, heading, body }: { above: string; heading: string; body: Html },
): Page => ({
  language: t.language,
  title,
  body: column(html`<div class="flex items-center gap-3">${initial(invite.organization.name)}
<p class="leading-tight"><strong class="font-semibold">${invite.organization.name}</strong><br><span class="quiet text-sm">${above}</span></p></div>
<h1 class="mt-6 text-3xl">${heading}</h1>
${body}
${whomToWriteTo(t, invite)}`),
})

/** A moment, in UTC; where there is a script, it writes the time as the reader's own clock has it. */
export const time = (t: CandidateTexts, at: Date): Html =>
  html`<time datetime="${at.toISOString()}" data-own="${t.text('time.own', { time: '{}' })}">${t.time(at)}</time>`

/** How far the candidate is, above the page. @property clock what is left of the time, as text; the script counts on from there. */
export type Way = { done: number; of: number; clock: Html | false }

/** A page on the way through the questions: who invites to what, the time and how much is done stay in view. */
export const takingPage = ({ t, invite }: View, title: string, { done, of, clock }: Way, body: Html): Page => ({
  language: t.language,
  title,
  body: html`<header class="sticky top-0 z-10 border-b border-base-300 bg-base-100">
<div class="mx-auto flex min-h-14 max-w-3xl flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">${initial(invite.organization.name)}
<p class="min-w-0 flex-1 basis-40 text-sm"><strong class="font-semibold">${invite.organization.name}</strong> <span class="quiet max-sm:block">${invite.assessment.name}</span></p>
<div class="flex flex-wrap gap-2" data-clocks>${clock}</div></div>
${of > 0 && html`<progress class="progress progress-primary block h-1 w-full rounded-none" value="${done}" max="${of}" aria-label="${t.text('layout.done')}">${t.text('layout.progress', { done, of })}</progress>`}
</header>
<div class="mx-auto max-w-3xl px-4 py-8">
<h1 class="sr-only">${invite.assessment.name}</h1>
${body}
${whomToWriteTo(t, invite)}</div>`,
})

/** The only column of a page that is read from its top to its end. */
export const column = (content: Html): Html => html`<div class="mx-auto max-w-2xl px-4 py-8 sm:py-14">${content}</div>`

/** An organization's first letter, where others have a logo. */
const initial = (name: string): Html =>
  html`<span class="grid size-9 shrink-0 place-items-center rounded-field bg-primary font-semibold text-primary-content" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>`

/** What stands out: `info` is to be known, `error` has gone wrong. */
export const notice = (kind: 'info' | 'warning' | 'error', content: Html, role?: 'alert' | 'note'): Html =>
  html`<div class="notice alert alert-soft alert-${kind} my-4" role="${role}">${icon(kind === 'info' ? 'info' : 'triangle-alert', 'size-5')}<div class="min-w-0 space-y-1">${content}</div></div>`

/** Who has invited, and whom to write to. */
export function whomToWriteTo(t: CandidateTexts, inviter: Inviter): Html {
  const { name: organization } = inviter.organization
  const contact = whomToAsk(inviter)
  return html`<p class="quiet mt-10 text-sm">${
    contact
      ? t.html('layout.contact.person', { organization, person: contact.name, address: mailto(contact.address) })
      : t.text('layout.contact.anybody', { organization })
  }</p>`
}

/** What opens a mail to an address, in which every character of an address may stand (RFC 6068, 2). */
export const mailtoOf = (address: string): string => `mailto:${encodeURIComponent(address).replace('%40', '@')}`
const mailto = (address: string): Html => html`<a class="link" href="${mailtoOf(address)}">${address}</a>`

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

/** A form that is one button. @param isClosed whether it is drawn as one that the page's script has yet to open. */
export const button = (view: View, action: string, label: string, isClosed = false): Html =>
  form(
    view,
    action,
    html`<button type="submit" class="${`btn btn-primary btn-lg mt-6${isClosed ? ' closed' : ''}`}">${label}</button>`,
  )
