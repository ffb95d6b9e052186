import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import type { FailureKind } from '../../../http/errors/failure.ts'
import { portalHeaders } from './headers.ts'
import { type Page, renderPage, sendPage, viewerOf } from './layout.ts'

const back = html`<p><a href="${PORTAL_PREFIX}">Go to the portal</a></p>`

const UNKNOWN: Page = {
  title: 'Page not found',
  body: html`<p>It does not exist, or you do not have access to it.</p>\n${back}`,
}
const REFUSED: Page = {
  title: 'This did not work',
  body: html`<p>Nothing was changed. Please go back, reload the page, and try again.</p>\n${back}`,
}
const TOO_LARGE: Page = {
  title: 'This was too large',
  body: html`<p>Nothing was changed. Please go back and send less at once.</p>\n${back}`,
}
const TOO_MANY_EXPORTS: Page = {
  title: 'Too many exports at once',
  body: html`<p>Other exports are still running. Please go back and try again in a minute.</p>\n${back}`,
}
const TOO_MANY_SEARCHES: Page = {
  title: 'Too many searches at once',
  body: html`<p>Other searches are still running. Please try again in a few seconds.</p>\n${back}`,
}
const TOO_MANY_PASSWORDS: Page = {
  title: 'Too many people are signing in',
  body: html`<p>Your password was not checked. Please go back and try again in a few seconds.</p>\n${back}`,
}
const TOO_MANY_REPORTS: Page = {
  title: 'Too many reports at once',
  body: html`<p>Other reports are still being created. Please go back and try again in a few seconds.</p>\n${back}`,
}
const TOO_MANY_ERASURES: Page = {
  title: 'Too many erasures are under way',
  body: html`<p>Others are still being erased. Please go back and try again in a few minutes.</p>\n${back}`,
}
const TOO_MANY_IMPORTS: Page = {
  title: 'Too many files at once',
  body: html`<p>Other files are still being read. Please go back and try again in a few seconds.</p>\n${back}`,
}
const FAILURE: Page = {
  title: 'Something went wrong on our side',
  body: html`<p>Please try again in a few minutes.</p>\n${back}`,
}

const answers: Partial<Record<FailureKind, [status: number, page: Page]>> = {
  path_not_found: [404, UNKNOWN],
  not_permitted: [404, UNKNOWN],
  api_key_not_found: [404, UNKNOWN],
  assessment_not_found: [404, UNKNOWN],
  question_not_found: [404, UNKNOWN],
  invite_not_found: [404, UNKNOWN],
  invite_batch_not_found: [404, UNKNOWN],
  member_not_found: [404, UNKNOWN],
  tag_not_found: [404, UNKNOWN],
  webhook_not_found: [404, UNKNOWN],
  delivery_not_found: [404, UNKNOWN],
  ats_not_found: [404, UNKNOWN],
  library_question_not_found: [404, UNKNOWN],
  library_import_not_found: [404, UNKNOWN],
  suppression_not_found: [404, UNKNOWN],
  erasure_not_found: [404, UNKNOWN],
  archive_not_found: [404, UNKNOWN],
  sign_in_setting_not_found: [404, UNKNOWN],
  too_many_exports: [429, TOO_MANY_EXPORTS],
  too_many_searches: [429, TOO_MANY_SEARCHES],
  too_many_passwords: [429, TOO_MANY_PASSWORDS],
  too_many_reports: [429, TOO_MANY_REPORTS],
  too_many_imports: [429, TOO_MANY_IMPORTS],
  too_many_erasures: [429, TOO_MANY_ERASURES],
  media_not_found: [404, UNKNOWN],
  submission_not_found: [404, UNKNOWN],
  result_not_released: [404, UNKNOWN],
  request_timeout: [408, REFUSED],
  body_too_large: [413, TOO_LARGE],
  headers_too_large: [431, REFUSED],
  overloaded: [503, FAILURE],
  database_busy: [503, FAILURE],
  store_unavailable: [503, FAILURE],
  database_away: [503, FAILURE],
  internal: [500, FAILURE],
}

const answerTo = (kind: FailureKind): [status: number, page: Page] => answers[kind] ?? [400, REFUSED]

/**
 * The portal says it by a page, in the frame of whoever is signed in. It is one page whatever the address, so that what one may not see does
 * not differ from what is not there.
 */
export const portalEnvelope: Envelope = {
  prefix: PORTAL_PREFIX,
  sendFailure({ kind, retryAfter }, { ctx, signedIn }, reply) {
    const [status, page] = answerTo(kind)
    reply.headers(portalHeaders) // not there yet where it failed before the scope's own hooks
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return sendPage(reply, renderPage(page, viewerOf({ ctx, signedIn, originalUrl: '' })), status)
  },
  rawFailure(kind) {
    const [status, page] = answerTo(kind)
    return { status, headers: { ...portalHeaders, 'content-type': 'text/html; charset=utf-8' }, body: renderPage(page, null) }
  },
}
