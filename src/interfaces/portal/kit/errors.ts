import type { FastifyRequest } from 'fastify'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import type { FailureKind } from '../../../http/errors/failure.ts'
import { portalHeaders } from './headers.ts'
import { type Page, renderPage, sendPage, viewerOf } from './layout.ts'
import { findFormPage } from './same-origin.ts'

type ErrorText = { title: string; text: string }

const UNKNOWN: ErrorText = {
  title: 'Page not found',
  text: 'It does not exist, or you do not have access to it.',
}
const REFUSED: ErrorText = {
  title: 'This did not work',
  text: 'Nothing was changed. Please go back, reload the page, and try again.',
}
const TOO_LARGE: ErrorText = {
  title: 'Too much data',
  text: 'Nothing was changed. Please go back and send less at once.',
}
const TOO_MANY_EXPORTS: ErrorText = {
  title: 'Too many exports at once',
  text: 'Other exports are still running. Please go back and try again in a minute.',
}
const TOO_MANY_SEARCHES: ErrorText = {
  title: 'Too many searches at once',
  text: 'Other searches are still running. Please try again in a few seconds.',
}
const TOO_MANY_PASSWORDS: ErrorText = {
  title: 'Too many people are signing in',
  text: 'Your password was not checked. Please go back and try again in a few seconds.',
}
const TOO_MANY_REPORTS: ErrorText = {
  title: 'Too many reports at once',
  text: 'Other reports are still being created. Please go back and try again in a few seconds.',
}
const TOO_MANY_ERASURES: ErrorText = {
  title: 'Too many erasures at once',
  text: 'Others are still being erased. Please go back and try again in a few minutes.',
}
const TOO_MANY_IMPORTS: ErrorText = {
  title: 'Too many files at once',
  text: 'Other files are still being read. Please go back and try again in a few seconds.',
}
const TOO_MANY_UPLOADS: ErrorText = {
  title: 'Too many uploads at once',
  text: 'Other files are still being uploaded, so nothing was saved. Please go back and try again in a few seconds.',
}
const ARCHIVE_DOWNLOADING: ErrorText = {
  title: 'This archive is being downloaded',
  text: 'It can be downloaded once. If the download is interrupted, the session that started it can repeat it within an hour; otherwise create another archive.',
}
const FAILURE: ErrorText = {
  title: 'Something went wrong on our side',
  text: 'Please try again in a few minutes.',
}
const BUSY: ErrorText = {
  title: 'The service is busy',
  text: 'Please try again in a few seconds.',
}
const AWAY: ErrorText = {
  title: 'Part of the service can’t be reached',
  text: 'Please try again in a few minutes.',
}

const answers: Partial<Record<FailureKind, [status: number, told: ErrorText]>> = {
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
  share_link_not_found: [404, UNKNOWN],
  suppression_not_found: [404, UNKNOWN],
  erasure_not_found: [404, UNKNOWN],
  archive_not_found: [404, UNKNOWN],
  archive_downloading: [409, ARCHIVE_DOWNLOADING],
  sign_in_setting_not_found: [404, UNKNOWN],
  too_many_exports: [429, TOO_MANY_EXPORTS],
  too_many_searches: [429, TOO_MANY_SEARCHES],
  too_many_passwords: [429, TOO_MANY_PASSWORDS],
  too_many_reports: [429, TOO_MANY_REPORTS],
  too_many_imports: [429, TOO_MANY_IMPORTS],
  too_many_uploads: [429, TOO_MANY_UPLOADS],
  too_many_erasures: [429, TOO_MANY_ERASURES],
  media_not_found: [404, UNKNOWN],
  submission_not_found: [404, UNKNOWN],
  result_not_released: [404, UNKNOWN],
  request_timeout: [408, REFUSED],
  body_too_large: [413, TOO_LARGE],
  headers_too_large: [431, REFUSED],
  overloaded: [503, BUSY],
  database_busy: [503, BUSY],
  store_unavailable: [503, AWAY],
  database_away: [503, AWAY],
  internal: [500, FAILURE],
}

const answerTo = (kind: FailureKind): [status: number, told: ErrorText] => answers[kind] ?? [400, REFUSED]

/** @param from path of the page whose form was sent; null if there is none. */
const pageOf = ({ title, text }: ErrorText, from: string | null): Page => ({
  title,
  body: html`<p>${text}</p>
<p>${from === null ? html`<a href="${PORTAL_PREFIX}">Go to the portal</a>` : html`<a href="${from}">Back to the form</a>`}</p>`,
})

/** Says the route's limit. If the text fields are too long but the request is within that limit, another one applies. */
function tooLarge({ headers, routeOptions: { bodyLimit } }: FastifyRequest): ErrorText {
  if (!(Number(headers['content-length']) > bodyLimit)) return TOO_LARGE
  const most = bodyLimit < 1e6 ? `${Math.floor(bodyLimit / 1e3)} kB` : `${Math.floor(bodyLimit / 1e6)} MB`
  return { ...TOO_LARGE, text: `Nothing was changed. At most ${most} can be sent here at once.` }
}

/**
 * Errors are pages, in the frame of the signed-in member. Not found and not permitted give the same page, so that the difference reveals
 * nothing.
 */
export const portalEnvelope: Envelope = {
  prefix: PORTAL_PREFIX,
  sendFailure({ kind, retryAfter }, request, reply) {
    const { ctx, signedIn } = request
    const [status, content] = answerTo(kind)
    const page = pageOf(kind === 'body_too_large' ? tooLarge(request) : content, findFormPage(request))
    reply.headers(portalHeaders) // missing if the request failed before the scope's hooks
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return sendPage(reply, renderPage(page, viewerOf({ ctx, signedIn, originalUrl: '' })), status)
  },
  rawFailure(kind) {
    const [status, content] = answerTo(kind)
    const headers = { ...portalHeaders, 'content-type': 'text/html; charset=utf-8' }
    return { status, headers, body: renderPage(pageOf(content, null), null) }
  },
}
