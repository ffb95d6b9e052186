import { INVITATION_PATH } from '../../domain/invites/links.ts'
import type { Envelope } from '../../http/envelope.ts'
import type { FailureKind } from '../../http/failure.ts'
import { pageHeaders } from '../../http/html-page.ts'
import { type PageName, render, sendPage } from './pages.ts'

type Answer = [status: number, page: PageName]

/** For errors that a person can only answer by going back to the page they came from. */
const REFUSED: Answer = [400, 'refused']
const UNKNOWN: Answer = [404, 'unknown']

const answers: Partial<Record<FailureKind, Answer>> = {
  invite_not_found: UNKNOWN,
  path_not_found: UNKNOWN,
  request_timeout: [408, 'refused'],
  headers_too_large: [431, 'refused'],
  overloaded: [503, 'failure'],
  database_busy: [503, 'failure'],
  internal: [500, 'failure'],
}

/** Errors of the candidates' pages are pages too. */
export const candidateEnvelope: Envelope = {
  prefix: INVITATION_PATH,
  sendFailure({ kind, retryAfter }, { routeOptions }, reply) {
    // A malformed link cannot be one of ours.
    const isUnreadable = kind === 'malformed_request' && routeOptions.url === undefined
    const [status, page] = isUnreadable ? UNKNOWN : (answers[kind] ?? REFUSED)
    reply.headers(pageHeaders()) // missing when the request failed before the scope's hooks
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return sendPage(reply, status, page, {})
  },
  rawFailure(kind) {
    const [status, page] = answers[kind] ?? REFUSED
    return { status, headers: { ...pageHeaders(), 'content-type': 'text/html; charset=utf-8' }, body: render(page, {}) }
  },
}
