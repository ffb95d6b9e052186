import type { Components, Reference } from './components.ts'

const wholeNumber = { type: 'integer', minimum: 0 }
const text = { type: 'string' }

/** Response headers. They extend the original documents. */
const headers = {
  'X-Request-Id': {
    description: "The request's X-Request-Id, or a new one. The service's log contains it.",
    schema: text,
    example: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75',
  },
  'RateLimit-Limit': {
    description: 'Requests per minute of the organization, or of the key if its own limit has fewer requests remaining.',
    schema: wholeNumber,
    example: 100,
  },
  'RateLimit-Remaining': { description: 'Requests remaining in the current minute.', schema: wholeNumber, example: 99 },
  'RateLimit-Reset': { description: 'Seconds until the next minute begins.', schema: wholeNumber, example: 60 },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: wholeNumber, example: 42 },
  Location: {
    description: 'Address of the created resource.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://assess.example.org/api/v1/tags/0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e6f',
  },
  Link: {
    description:
      'Related addresses (RFC 8288): `first`, `prev`, `next`, and `last` page of a list, or the `existing` invite when a duplicate is refused.',
    schema: text,
    example: '<https://assess.example.org/api/v1/tags?page=2>; rel="next"',
  },
  'Events-Cursor': {
    description: 'Start the event feed at this cursor to receive every event after this list was read.',
    schema: text,
    example: '4711',
  },
  'Ignored-Parameters': {
    description: 'Unknown query parameters of this request, percent-encoded, at most ten. They had no effect.',
    schema: text,
    example: 'asessmentId, verbose',
  },
  'Ignored-Fields': {
    description:
      'Unknown body fields of this request, percent-encoded, at most ten. They had no effect. Errors have this header, too.',
    schema: text,
    example: 'sendemail, expires_in_days',
  },
  'Idempotent-Replayed': {
    description: '`true` if this is the stored answer to an earlier request with the same Idempotency-Key; else absent.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  ETag: {
    description:
      'Version of the answer, a hash of its body. Send it as `If-None-Match` to receive the body only if it has changed.',
    schema: text,
    example: 'W/"vKz1pYw3l0bXo8Qm5tRn2A"',
  },
  Deprecation: {
    description: 'Time since which the operation is deprecated (RFC 9745): `@` and seconds since 1970.',
    schema: text,
    example: '@1798761600',
  },
  Sunset: {
    description: 'Earliest time at which the operation may be removed (RFC 8594).',
    schema: text,
    example: 'Fri, 31 Dec 2027 00:00:00 GMT',
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: text, example: 'Api-Key realm="api"' },
}

export type HeaderName = keyof typeof headers

/** Headers of every answer to an authenticated request. */
export const STANDARD_HEADERS: HeaderName[] = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** References to header components, by header name. */
export const describeHeaders = (names: HeaderName[], components: Components): Record<string, object | Reference> =>
  Object.fromEntries(names.map((name) => [name, components.put('headers', name, headers[name])]))
