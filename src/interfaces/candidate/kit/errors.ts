import type { Inviter } from '../../../domain/invites/find-contact.ts'
import { FALLBACK_LANGUAGE } from '../../../domain/languages/choose-language.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import { html } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import type { FailureKind } from '../../../http/errors/failure.ts'
import type { CandidateTexts, Languages } from '../../../locales/languages.ts'
import { candidateHeaders } from './headers.ts'
import { textsForStranger } from './language.ts'
import { column, contactNote, type Page, renderPage, sendPage } from './layout.ts'

const errorPage = (t: CandidateTexts, messageKey: 'refused' | 'unknown' | 'too_often' | 'failure'): Page => ({
  language: t.language,
  title: t.text(`errors.${messageKey}.title`),
  body: column(html`<h1>${t.text(`errors.${messageKey}.heading`)}</h1>
<p class="mt-3">${t.text(`errors.${messageKey}.text`)}</p>`),
})

/** The invite has a newer link. The page names the organization, so that the candidate can ask for it. */
export const replacedPage = (t: CandidateTexts, inviter: Inviter & { organization: Brand }): Page => ({
  language: t.language,
  brand: inviter.organization,
  title: t.text('errors.unknown.title'),
  body: column(html`<h1>${t.text('errors.unknown.heading')}</h1>
<p class="mt-3">${t.text('errors.replaced.text')}</p>
${contactNote(t, inviter)}`),
})

type Answer = [status: number, page: Parameters<typeof errorPage>[1]]

/** For errors after which a person can only go back. */
const REFUSED: Answer = [400, 'refused']
const UNKNOWN: Answer = [404, 'unknown']

const answers: Partial<Record<FailureKind, Answer>> = {
  invite_not_found: UNKNOWN,
  media_not_found: UNKNOWN,
  path_not_found: UNKNOWN,
  request_timeout: [408, 'refused'],
  headers_too_large: [431, 'refused'],
  rate_limited: [429, 'too_often'],
  too_many_uploads: [429, 'failure'],
  too_many_reports: [429, 'failure'],
  overloaded: [503, 'failure'],
  store_unavailable: [503, 'failure'],
  database_busy: [503, 'failure'],
  database_away: [503, 'failure'],
  internal: [500, 'failure'],
}

/** Errors of the candidates' pages are answered with pages. */
export const candidateEnvelope = (languages: Languages): Envelope => ({
  prefix: INVITATION_PATH,
  sendFailure({ kind, retryAfter }, request, reply) {
    const { routeOptions } = request
    // A malformed link cannot be one of ours.
    const isUnreadable = kind === 'malformed_request' && routeOptions.url === undefined
    const [status, messageKey] = isUnreadable ? UNKNOWN : (answers[kind] ?? REFUSED)
    reply.headers(candidateHeaders()) // missing if the request failed before the scope's hooks
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return sendPage(reply, status, errorPage(textsForStranger(languages, request), messageKey))
  },
  rawFailure(kind) {
    const [status, messageKey] = answers[kind] ?? REFUSED
    const body = renderPage(errorPage(languages.candidate(FALLBACK_LANGUAGE, 'UTC'), messageKey))
    return { status, headers: { ...candidateHeaders(), 'content-type': 'text/html; charset=utf-8' }, body }
  },
})
