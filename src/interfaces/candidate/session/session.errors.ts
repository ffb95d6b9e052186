import type { SessionProblem } from '../../../domain/errors.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import type { FailureKind } from '../../../http/errors/failure.ts'
import type { Languages } from '../../../locales/languages.ts'
import { candidateEnvelope } from '../kit/errors.ts'

type Answer = [status: number, message: string]

const problems: Record<SessionProblem, Answer> = {
  taken_over: [409, 'The assessment has been opened in another tab, which takes its place'],
  closed: [409, 'The question is not open, or its time is over'],
  preparing: [409, 'The time to prepare is not over'],
  submitted: [409, 'The assessment has been submitted'],
  not_shared: [409, 'The screen has to be recorded, and is not'],
  not_ready: [409, 'Something is missing before the start'],
  no_plays_left: [409, 'The question has been played as often as it may be'],
  not_granted: [403, 'This was not granted, has been played already, or its time is over'],
  no_attempts_left: [409, 'The answer has been recorded as often as it may be'],
  part_differs: [409, 'This part has been sent with another content'],
  parts_missing: [409, 'Parts are missing'],
  too_big: [413, 'More than a recording or a photo may have'],
  not_media: [422, 'Not a recording or a photo of a kind that is taken'],
  wrong_type: [422, 'Not a file of a type that the question takes'],
  too_soon: [429, 'The webcam has been photographed a moment ago'],
  too_many: [409, 'This has been begun more often than one assessment has room for'],
  not_found: [404, 'There is no such recording or photo'],
  quota: [507, 'There is no room for more'],
}

const answers: Partial<Record<FailureKind, Answer>> = {
  invite_not_found: [404, 'The link is not valid'],
  media_not_found: [404, 'There is nothing to play, or not yet'],
  path_not_found: [404, 'There is nothing here'],
  invalid: [422, 'A value is not valid'],
  idempotency_key_reused: [422, 'This id was given to another attempt'],
  malformed_json: [400, 'The body is not valid JSON'],
  unsupported_media_type: [415, 'The body has another type than is taken here'],
  request_timeout: [408, 'The request took too long to arrive'],
  rate_limited: [429, 'This has been sent too often: try again later'],
  too_many_uploads: [429, 'Too much is being sent at once: try again'],
  overloaded: [503, 'The service is overloaded: try again'],
  database_busy: [503, 'The service is busy: try again'],
  store_unavailable: [503, 'Nothing can be kept at the moment: try again'],
  database_away: [503, 'The service is busy: try again'],
  internal: [500, 'Something went wrong on our side'],
}

/** Errors of the scripts' requests: `code` for the script, `message` for developers. */
export const sessionEnvelope = (languages: Languages): Envelope => ({
  ...candidateEnvelope(languages),
  sendFailure({ kind, issues, retryAfter }, _request, reply) {
    const [first] = issues
    const refusal = first?.rule === 'session' ? first : undefined
    const problem = kind === 'body_too_large' ? 'too_big' : refusal?.problem
    const [status, message] = problem ? problems[problem] : (answers[kind] ?? [400, 'The request is malformed'])
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return reply.code(status).send({ code: problem ?? kind, message, ...(refusal?.parts && { missing: refusal.parts }) })
  },
})
