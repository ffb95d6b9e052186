import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Issue } from '../domain/errors.ts'
import { absoluteUrl } from '../http/address.ts'
import type { RawAnswer } from '../http/client-error.ts'
import type { Failure, FailureKind } from '../http/failure.ts'
import { ref } from '../http/schema-ref.ts'
import { fieldName } from './names.ts'

export const DetailView = Type.Object({ detail: Type.String() }, { $id: 'Error', examples: [{ detail: 'Not found.' }] })

export const FieldErrorsView = Type.Unsafe<Record<string, string[]>>({
  $id: 'FieldErrors',
  type: 'object',
  description:
    'The texts of what is wrong, by field; `non_field_errors` for the whole; `detail` when the body could not be read.',
  properties: { detail: { type: 'string' } },
  additionalProperties: { type: 'array', items: { type: 'string' } },
  examples: [{ email: ['Enter a valid email address.'], tags: ['This field is required.'] }],
})

const DUPLICATE = 'An invite for this email and assessment already exists'
const NOT_FOUND = 'Not found.'
const UNAVAILABLE = 'Service temporarily unavailable, try again later.'

/** alternate.md, Errors; alternate-behaviour.md: status and `detail` of each kind of failure. */
const answers = {
  api_key_missing: [401, 'Authentication credentials were not provided.'],
  api_key_unknown: [401, 'Invalid API key.'],
  api_key_expired: [401, 'API key has expired.'],
  api_key_revoked: [401, 'API key has been revoked.'],
  organization_forbidden: [403, 'You do not have permission to perform this action.'],
  assessment_not_found: [404, NOT_FOUND],
  invite_not_found: [404, NOT_FOUND],
  member_not_found: [404, NOT_FOUND],
  tag_not_found: [404, NOT_FOUND],
  path_not_found: [404, NOT_FOUND],
  page_not_found: [404, 'Invalid page.'],
  method_not_allowed: [405, 'Method not allowed.'],
  duplicate_invite: [400, DUPLICATE],
  duplicate_tag_name: [400, 'A tag with this name already exists.'],
  move_not_allowed: [409, 'The invite is in a state that does not allow this.'],
  idempotency_key_reused: [422, 'This Idempotency-Key has already been used for another request.'],
  invalid: [400, 'Invalid input.'],
  malformed_request: [400, 'Malformed request.'],
  malformed_json: [400, 'JSON parse error'],
  request_timeout: [408, 'Request timed out.'],
  headers_too_large: [431, 'Request header fields too large.'],
  body_too_large: [413, 'Request body too large.'],
  unsupported_media_type: [415, 'Unsupported media type'],
  rate_limited: [429, 'Request was throttled.'],
  overloaded: [503, UNAVAILABLE],
  database_busy: [503, UNAVAILABLE],
  internal: [500, 'Internal server error'],
} as const satisfies Record<FailureKind, [status: number, detail: string]>

/** Answers a failure as Django REST framework words it: `detail`, or all that is wrong by field. */
export function sendFailure(failure: Failure, request: FastifyRequest, reply: FastifyReply, prefix: string): FastifyReply {
  const { kind, issues, existingId, retryAfter } = failure
  const [status, detail] = answers[kind]
  if (status === 401) reply.header('www-authenticate', 'Api-Key realm="api"')
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  if (existingId !== undefined) {
    reply.header('link', `<${absoluteUrl(request, `${prefix}/assessment_invites/${existingId}`)}>; rel="existing"`)
  }
  if (issues.length > 0) return reply.code(400).send(wordIssues(issues))
  if (kind === 'duplicate_invite') return reply.code(400).send({ non_field_errors: [DUPLICATE] })
  return reply.code(status).send({ detail: wordDetail(failure, request, detail) })
}

/** The same for what never became a request. */
export function presentRawFailure(kind: FailureKind): RawAnswer {
  const [status, detail] = answers[kind]
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify({ detail }) }
}

function wordDetail({ kind, detail, retryAfter }: Failure, request: FastifyRequest, text: string): string {
  switch (kind) {
    case 'method_not_allowed':
      return `Method "${request.method}" not allowed.`
    case 'unsupported_media_type':
      return `Unsupported media type "${request.headers['content-type'] ?? ''}" in request.`
    case 'rate_limited':
      return `${text} Expected available in ${retryAfter} seconds.`
    case 'malformed_json':
      return `${text} - ${detail}`
    default:
      return text
  }
}

function wordIssues(issues: Issue[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {}
  for (const issue of issues) {
    const name = issue.field === '' ? 'non_field_errors' : fieldName(issue.field)
    errors[name] = [...(errors[name] ?? []), wordIssue(issue)]
  }
  return errors
}

/** The texts that alternate-behaviour.md lists. */
function wordIssue({ rule, limit, value }: Issue): string {
  switch (rule) {
    case 'required':
      return 'This field is required.'
    case 'null':
      return 'This field may not be null.'
    case 'blank':
      return 'This field may not be blank.'
    case 'email':
      return 'Enter a valid email address.'
    case 'integer':
      return 'A valid integer is required.'
    case 'minimum':
      return `Ensure this value is greater than or equal to ${limit}.`
    case 'maximum':
      return `Ensure this value is less than or equal to ${limit}.`
    case 'boolean':
      return 'Must be a valid boolean.'
    case 'uuid':
      return 'Must be a valid UUID.'
    case 'list':
      return `Expected a list of items but got type "${typeof value}".`
    case 'maxItems':
      return `Ensure this field has no more than ${limit} elements.`
    case 'dictionary':
      return `Invalid data. Expected a dictionary, but got ${Array.isArray(value) ? 'list' : typeof value}.`
    case 'reference':
      return `Invalid pk "${value}" - object does not exist.`
    case 'idempotency-key':
      return 'Enter 1 to 255 printable ASCII characters without spaces.'
    case 'filter:uuid':
      return 'Enter a valid UUID.'
    case 'filter:choice':
      return `Select a valid choice. ${value} is not one of the available choices.`
    case 'filter:number':
      return 'Enter a number.'
    case 'filter:boolean':
      return 'Enter true or false.'
    case 'filter:depth':
      return 'Enter 0, 1 or 2.'
    case 'filter:text':
      return 'Null characters are not allowed.'
    default:
      return 'Invalid value.'
  }
}

const descriptions = {
  401: 'Missing, unknown, expired or revoked API key',
  403: "The organization in the path is not the key's",
  404: 'The resource, or the page of the list, does not exist',
  413: 'The request body is larger than 64 KiB',
  415: 'The request body is not JSON',
  422: 'The Idempotency-Key has been used for another request',
  429: 'Rate limit exceeded; retry after the seconds in Retry-After',
  500: 'Internal server error',
  503: 'The service is overloaded or busy; retry after the seconds in Retry-After',
}

/** The error responses of an operation: 400, those named, and those every operation has. */
export function errorResponses(...statuses: (keyof typeof descriptions)[]) {
  const details = ([...statuses, 401, 429, 500, 503] as const).map((status) => [
    status,
    { ...ref(DetailView), description: descriptions[status] },
  ])
  return {
    ...Object.fromEntries(details),
    400: { ...ref(FieldErrorsView), description: 'A parameter, a filter or a field is not valid' },
  }
}
