import type { FastifyReply } from 'fastify'
import type { CandidateInvite } from '../../../domain/invites/candidate-moves.ts'
import { findContactOf, type Inviter } from '../../../domain/invites/find-contact.ts'
import type { LanguageSources } from '../../../domain/languages/choose-language.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import { type PageLink, pageLinksFor } from '../../../domain/ports/page-links.ts'
import type { ProctoringTerms } from '../../../domain/submissions/needs.ts'
import type { Zoned } from '../../../domain/time/zones.ts'
import { type Html, html, toText } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { brandLink, brandLogo, headBackground, iconPath, pageHead } from '../../../http/pages/brand.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { nameOfLanguage } from '../../../locales/names.ts'
import { directionOf } from '../../../locales/texts.ts'
import { look, scriptOf } from './assets.ts'

export type Page = {
  language: string
  title: string
  body: Html
  /** Organization whose brand the page shows; undefined for the service's. */
  brand?: Brand
  /** Stays above the page when another page replaces it. */
  above?: Html
  /** Script to load: `session` inside a session, `open` for the form of an open link, else the one for local times; none if the page needs none. */
  script?: 'session' | 'clock' | 'open'
}

/** Fields of an invite that pages show. A preview has only these. */
export type ShownInvite = LanguageSources &
  Zoned &
  ProctoringTerms &
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
  } & Inviter & { organization: Brand }

export type View = {
  t: CandidateTexts
  invite: ShownInvite
  token: string
  /** Address of a page without an invite. */
  path?: string
  /** Token that proves that a form comes from one of our pages. */
  proof: string
  /** Languages to choose from; empty if there is no choice. */
  languages: readonly string[]
}

export const renderPage = ({ language, title, body, brand, above, script }: Page): string =>
  toText(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="${(brand && iconPath(brand)) ?? look.icon.address}">
<link rel="stylesheet" href="${look.stylesheet.address}">
${brand && brandLink(brand)}
${script && scriptOf(script === 'session' ? language : script)}
</head>
<body>
${above}<main class="min-h-dvh">
${body}
</main>
</body>
</html>
`)

export const sendPage = (reply: FastifyReply, status: number, page: Page): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').header('content-language', page.language).send(renderPage(page))

/** For a page with `data-session`. */
export const withScript = (page: Page): Page => ({ ...page, script: 'session' })

export const pathOf = ({ token, path }: Pick<View, 'token' | 'path'>): string => path ?? `${INVITATION_PATH}/${token}`

/** Page of an invite, with the organization at the top and its contact at the bottom. */
export const invitePage = (view: View, title: string, body: Html): Page =>
  headedPage(view, title, { above: view.t.text('layout.invites'), heading: view.invite.assessment.name, body })

/** Page of a closed invite. */
export const endedPage = (view: View, title: string, heading: string, body: Html): Page =>
  headedPage(view, title, { above: view.invite.assessment.name, heading, body })

const headedPage = (
  view: View,
  title: string,
  { above, heading, body }: { above: string; heading: string; body: Html },
): Page => ({
  language: view.t.language,
  title,
  script: 'clock',
  brand: view.invite.organization,
  body: column(html`${pageHead(view.invite.organization, above, languageSwitch(view))}
<h1 class="mt-6 text-3xl">${heading}</h1>
${body}
${contactNote(view.t, view.invite)}`),
})

/** A time in UTC, which the script converts to the reader's time zone. */
export const time = (t: CandidateTexts, moment: Date): Html =>
  html`<time datetime="${moment.toISOString()}" data-own="${t.text('time.own', { time: '{}' })}">${t.time(moment)}</time>`

/**
 * The candidate's progress, shown above the page.
 *
 * @property clock remaining time as text, from which the script counts down.
 * @property hasAnswer true if the page has the form of the written answer, with the action `answer`.
 * @property isRecorded true if the screen or the webcam is recorded: the language can't be switched then, because that loads another page.
 */
export type ProgressHeader = {
  done: number
  questionCount: number
  clock: Html | false
  hasAnswer?: boolean
  isRecorded: boolean
}

/** A page during the assessment. Organization, assessment, time, and progress stay in view. */
export const takingPage = (
  view: View,
  title: string,
  { done, questionCount, clock, hasAnswer, isRecorded }: ProgressHeader,
  body: Html,
): Page => ({
  language: view.t.language,
  title,
  brand: view.invite.organization,
  body: html`<header class="sticky top-0 z-10 border-b border-base-300 ${headBackground(view.invite.organization, 'bg-base-100')}">
<div class="mx-auto flex min-h-14 max-w-3xl flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">${brandLogo(view.invite.organization)}
<p class="min-w-0 flex-1 basis-40 text-sm"><strong class="font-semibold"><bdi>${view.invite.organization.name}</bdi></strong> <span class="quiet max-sm:block"><bdi>${view.invite.assessment.name}</bdi></span></p>
<div class="flex flex-wrap gap-2" data-clocks>${clock}</div>${!isRecorded && languageSwitch(view, hasAnswer)}</div>
${questionCount > 0 && html`<progress class="progress progress-primary block h-1 w-full rounded-none" value="${done}" max="${questionCount}" aria-label="${view.t.text('layout.done')}">${view.t.text('layout.progress', { done, of: questionCount })}</progress>`}
</header>
<div class="mx-auto max-w-3xl px-4 py-8">
<h1 class="sr-only">${view.invite.assessment.name}</h1>
${body}
${contactNote(view.t, view.invite)}</div>`,
})

/** Column of a page with a single column. */
export const column = (content: Html): Html => html`<div class="mx-auto max-w-2xl px-4 py-8 sm:py-14">${content}</div>`

/**
 * Languages to choose from, each by its own name.
 *
 * @param hasAnswer true to send the page's answer along, so that it is kept.
 */
export function languageSwitch(view: View, hasAnswer = false): Html | false {
  const { t, languages } = view
  if (languages.length === 0) return false
  const owner = hasAnswer ? 'form-answer' : 'form-language'
  const choices = languages.map(
    (language) =>
      html`<li><button type="submit" name="language" value="${language}" lang="${language}" form="${owner}" aria-current="${String(language === t.language)}">${nameOfLanguage(language)}</button></li>`,
  )
  const list = html`<ul class="menu dropdown-content panel z-20 w-max p-1">${choices}</ul>`
  return html`<details class="dropdown dropdown-end shrink-0" data-language><summary class="btn btn-ghost btn-sm" aria-label="${t.text('layout.language', { name: nameOfLanguage(t.language) })}">${icon('languages')}${nameOfLanguage(t.language)}</summary>${hasAnswer ? list : languageForm(view, list)}</details>`
}

/** Links to the languages of a page without an invite. The choice is in the address, because it can't be stored. */
const languageForm = (view: View, list: Html): Html =>
  view.path === undefined
    ? form(view, 'language', list)
    : html`<form method="get" action="${view.path}" id="form-language">${list}</form>`

export const notice = (kind: 'info' | 'warning' | 'error', content: Html, role?: 'alert' | 'note'): Html =>
  html`<div class="notice alert alert-soft alert-${kind} my-4" role="${role}">${icon(kind === 'info' ? 'info' : 'triangle-alert', 'size-5')}<div class="min-w-0 space-y-1">${content}</div></div>`

export function contactNote(t: CandidateTexts, inviter: Inviter & { organization: Brand }): Html {
  const { name: organization } = inviter.organization
  const contact = findContactOf(inviter)
  return html`<p class="quiet mt-10 text-sm">${
    contact
      ? t.html('layout.contact.person', { organization, person: contact.name, address: mailto(contact.address) })
      : t.text('layout.contact.anybody', { organization })
  }</p>${footLinks(t, inviter.organization)}`
}

const LINKS = {
  imprint: 'layout.imprint',
  privacy: 'layout.privacy',
  contact: 'layout.contact',
} as const satisfies Record<PageLink, string>

/** Opens in a new tab, so that the answer stays open. */
export function footLinks(t: CandidateTexts, organization: Brand): Html | false {
  const links = pageLinksFor(organization, t.language)
  const items = links.map(
    ({ link, url }) =>
      html`<li><a class="link" href="${url}" target="_blank" rel="noopener noreferrer">${t.text(LINKS[link])}</a></li>`,
  )
  return items.length > 0 && html`<ul class="quiet mt-3 flex flex-wrap gap-x-4 gap-y-1 text-sm" id="links">${items}</ul>`
}

/** A `mailto:` URL, encoded by RFC 6068, section 2. */
export const mailtoOf = (address: string): string => `mailto:${encodeURIComponent(address).replace('%40', '@')}`
export const mailto = (address: string): Html => html`<a class="link" href="${mailtoOf(address)}">${address}</a>`

/** A form. Fields outside of it refer to it by id. */
export const form = (
  view: View,
  action: string,
  content: Html,
): Html => html`<form method="post" action="${`${pathOf(view)}/${action}`}" id="${`form-${action}`}">
<input type="hidden" name="proof" value="${view.proof}">
${content}
</form>
`

export const hidden = (name: string, value: string | number): Html => html`<input type="hidden" name="${name}" value="${value}">`

/** A form with a single button. @param isClosed true to draw it as disabled until the page's script enables it. */
export const button = (view: View, action: string, label: string, isClosed = false): Html =>
  form(
    view,
    action,
    html`<button type="submit" class="${`btn btn-primary btn-lg mt-6${isClosed ? ' closed' : ''}`}">${label}</button>`,
  )
