import { html, toText } from '../../html/html.ts'
import { SHARE_PATH } from '../../http/addresses/links.ts'
import type { Envelope } from '../../http/errors/envelope.ts'
import type { FailureKind } from '../../http/errors/failure.ts'
import { sharedHeaders } from './headers.ts'
import { column, renderPage } from './layout.ts'

const CLOSED = [
  'This link is closed',
  'It has ended, was withdrawn, or is not complete. Ask the person who sent it to you for another one.',
] as const
const TOO_OFTEN = ['Too many requests', 'Please wait a minute, then open the link again.'] as const
const FAILED = ['Something went wrong', 'Please try again in a few minutes.'] as const

const ANSWERS: Partial<Record<FailureKind, [status: number, texts: readonly [heading: string, text: string]]>> = {
  rate_limited: [429, TOO_OFTEN],
  overloaded: [503, FAILED],
  store_unavailable: [503, FAILED],
  database_busy: [503, FAILED],
  database_away: [503, FAILED],
  internal: [500, FAILED],
}

/** Other failures look alike, so that they don't reveal which links exist. */
function answerOf(kind: FailureKind): { status: number; body: string } {
  const [status, [heading, text]] = ANSWERS[kind] ?? [404, CLOSED]
  const body = column(html`<h1>${heading}</h1>\n<p class="mt-3">${text}</p>`)
  return { status, body: toText(renderPage({ title: heading, body })) }
}

export const sharedEnvelope: Envelope = {
  prefix: SHARE_PATH,
  sendFailure({ kind, retryAfter }, _request, reply) {
    const { status, body } = answerOf(kind)
    reply.headers(sharedHeaders) // missing if the request failed before the scope's hooks
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return reply.code(status).type('text/html; charset=utf-8').send(body)
  },
  rawFailure(kind) {
    const { status, body } = answerOf(kind)
    return { status, headers: { ...sharedHeaders, 'content-type': 'text/html; charset=utf-8' }, body }
  },
}
