import type { Components, Reference } from './components.ts'

const whole = { type: 'integer', minimum: 0 }
const text = { type: 'string' }

/** Headers of answers, beyond the original documents. */
const headers = {
  'X-Request-Id': {
    description: "The client's own X-Request-Id where it sent one, else a new one; the service's log knows the request by it.",
    schema: text,
    example: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75',
  },
  'RateLimit-Limit': {
    description: 'Requests the organization may make a minute, or the key where a limit of its own leaves fewer.',
    schema: whole,
    example: 100,
  },
  'RateLimit-Remaining': { description: 'Requests left of them in the present minute.', schema: whole, example: 99 },
  'RateLimit-Reset': { description: 'Seconds until the next minute begins.', schema: whole, example: 60 },
  'Retry-After': { description: 'Seconds after which another try makes sense.', schema: whole, example: 42 },
  Location: {
    description: 'Address of what was created.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://assess.example.org/api/v1/tags/0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e6f',
  },
  Link: {
    description:
      'Addresses (RFC 8288): on a list its pages `first`, `prev`, `next` and `last`; on the refusal of a duplicate the `existing` invite.',
    schema: text,
    example: '<https://assess.example.org/api/v1/tags?page=2>; rel="next"',
  },
  'Events-Cursor': {
    description: 'Where to follow the feed of events from, so that nothing that happened after this list was read is missed.',
    schema: text,
    example: '4711',
  },
  'Ignored-Parameters': {
    description:
      'Names of parameters of the query that this request does not take, percent-encoded, ten at most: they have filtered nothing.',
    schema: text,
    example: 'asessmentId, verbose',
  },
  'Ignored-Fields': {
    description:
      'Names of fields of the body that this request does not take, percent-encoded, ten at most: they have changed nothing. Errors have it, too.',
    schema: text,
    example: 'sendemail, expires_in_days',
  },
  'Idempotent-Replayed': {
    description: '`true` when this is the answer to an earlier request with the same Idempotency-Key; else absent.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  ETag: {
    description:
      'Which answer this is: made of its body, so that another body has another one. To be sent back as `If-None-Match`.',
    schema: text,
    example: 'W/"vKz1pYw3l0bXo8Qm5tRn2A"',
  },
  Deprecation: {
    description: 'Since when the operation is deprecated (RFC 9745): seconds since 1970, behind an @.',
    schema: text,
    example: '@1798761600',
  },
  Sunset: {
    description: 'Until when the operation is answered at least (RFC 8594).',
    schema: text,
    example: 'Fri, 31 Dec 2027 00:00:00 GMT',
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: text, example: 'Api-Key realm="api"' },
}

export type HeaderName = keyof typeof headers

/** Headers of every answer to a request that was authenticated and counted. */
export const COUNTED: HeaderName[] = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** The headers of a response, by reference. */
export const showHeaders = (names: HeaderName[], components: Components): Record<string, object | Reference> =>
  Object.fromEntries(names.map((name) => [name, components.put('headers', name, headers[name])]))
