import { html } from '../../../html/html.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import type { FailureKind } from '../../../http/errors/failure.ts'
import { candidateHeaders } from './headers.ts'
import { column, type Page, renderPage, sendPage } from './layout.ts'

const refusedPage: Page = {
  title: 'Not sent',
  body: column(html`<h1>That did not work</h1>
<p class="mt-3">Please go back to the page from your invitation's link, reload it, and try again.</p>`),
}
const unknownPage: Page = {
  title: 'Unknown link',
  body: column(html`<h1>This link is not valid</h1>
<p class="mt-3">Please open the link from the most recent invitation you were sent: an earlier one may have been replaced. If that does not help, ask whoever invited you for a new one.</p>`),
}
const failurePage: Page = {
  title: 'Something went wrong',
  body: column(html`<h1>Something went wrong on our side</h1>
<p class="mt-3">Nothing is lost. Please try again in a few minutes.</p>`),
}

type Answer = [status: number, page: Page]

/** For errors that a person can only answer by going back to the page they came from. */
const REFUSED: Answer = [400, refusedPage]
const UNKNOWN: Answer = [404, unknownPage]

const answers: Partial<Record<FailureKind, Answer>> = {
  invite_not_found: UNKNOWN,
  path_not_found: UNKNOWN,
  request_timeout: [408, refusedPage],
  headers_too_large: [431, refusedPage],
  rate_limited: [429, failurePage],
  too_many_uploads: [429, failurePage],
  overloaded: [503, failurePage],
  store_unavailable: [503, failurePage],
  database_busy: [503, failurePage],
  database_away: [503, failurePage],
  internal: [500, failurePage],
}

/** Errors of the candidates' pages are pages too. */
export const candidateEnvelope: Envelope = {
  prefix: INVITATION_PATH,
  sendFailure({ kind, retryAfter }, { routeOptions }, reply) {
    // A malformed link cannot be one of ours.
    const isUnreadable = kind === 'malformed_request' && routeOptions.url === undefined
    const [status, page] = isUnreadable ? UNKNOWN : (answers[kind] ?? REFUSED)
    reply.headers(candidateHeaders()) // missing when the request failed before the scope's hooks
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return sendPage(reply, status, page)
  },
  rawFailure(kind) {
    const [status, page] = answers[kind] ?? REFUSED
    return { status, headers: { ...candidateHeaders(), 'content-type': 'text/html; charset=utf-8' }, body: renderPage(page) }
  },
}
