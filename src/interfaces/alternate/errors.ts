import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Issue } from '../../domain/errors.ts'
import { absoluteUrl } from '../../http/addresses/address.ts'
import type { Envelope } from '../../http/errors/envelope.ts'
import { type Failure, type FailureKind, FORBIDDEN_PROPERTY, failureHeaders } from '../../http/errors/failure.ts'
import type { ErrorDescription } from '../../http/openapi/errors.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { fieldName } from './names.ts'

const DetailView = Type.Object({ detail: Type.String({ description: 'What went wrong' }) }, { [NAME]: 'ErrorDetail' })
const FieldErrorsView = Type.Unsafe<Record<string, string[]>>({
  [NAME]: 'FieldErrors',
  type: 'object',
  description: 'The texts of what is wrong, by field; `non_field_errors` for the whole.',
  additionalProperties: { type: 'array', items: { type: 'string' } },
})

const DUPLICATE = 'An invite for this email and assessment already exists'
const FORBIDDEN = 'You do not have permission to perform this action.'
const NOT_FOUND = 'Not found.'
const UNAVAILABLE = 'Service temporarily unavailable, try again later.'
const THROTTLED = 'Request was throttled.'

/** alternate.md, Errors; alternate-behaviour.md: status and `detail` of each kind of failure. */
const answers = {
  api_key_missing: [401, 'Authentication credentials were not provided.'],
  api_key_unknown: [401, 'Invalid API key.'],
  api_key_expired: [401, 'API key has expired.'],
  api_key_revoked: [401, 'API key has been revoked.'],
  organization_suspended: [401, 'The organization is suspended.'],
  organization_forbidden: [403, FORBIDDEN],
  live_key_required: [403, FORBIDDEN],
  test_key_required: [403, FORBIDDEN],
  manage_required: [403, FORBIDDEN],
  changed_meanwhile: [409, 'It has been changed meanwhile.'],
  state_conflict: [409, 'Its state does not allow this.'],
  insufficient_scope: [403, FORBIDDEN],
  network_not_allowed: [403, FORBIDDEN],
  admin_refused: [403, FORBIDDEN],
  assessment_not_found: [404, NOT_FOUND],
  question_not_found: [404, NOT_FOUND],
  invite_not_found: [404, NOT_FOUND],
  invite_batch_not_found: [404, NOT_FOUND],
  member_not_found: [404, NOT_FOUND],
  tag_not_found: [404, NOT_FOUND],
  media_not_found: [404, 'Not found.'],
  submission_not_found: [404, NOT_FOUND],
  result_not_released: [404, NOT_FOUND],
  api_key_not_found: [404, NOT_FOUND],
  webhook_not_found: [404, NOT_FOUND],
  delivery_not_found: [404, NOT_FOUND],
  ats_not_found: [404, NOT_FOUND],
  library_question_not_found: [404, NOT_FOUND],
  library_import_not_found: [404, NOT_FOUND],
  share_link_not_found: [404, NOT_FOUND],
  suppression_not_found: [404, NOT_FOUND],
  erasure_not_found: [404, NOT_FOUND],
  archive_not_found: [404, NOT_FOUND],
  archive_downloading: [409, 'The archive is being downloaded.'],
  sign_in_setting_not_found: [404, NOT_FOUND],
  not_permitted: [403, FORBIDDEN],
  path_not_found: [404, NOT_FOUND],
  page_not_found: [404, 'Invalid page.'],
  method_not_allowed: [405, 'Method not allowed.'],
  duplicate_invite: [400, DUPLICATE], // shown under non_field_errors, see presentFailure
  duplicate_tag_name: [400, 'A tag with this name already exists.'],
  live_tag_read_only: [400, 'This tag is live.'],
  move_not_allowed: [409, 'The invite is in a state that does not allow this.'],
  invite_declined: [409, 'The candidate has declined the invite.'],
  too_many_mails: [429, THROTTLED],
  too_many_webhooks: [409, 'There are too many webhooks.'],
  too_many_exports: [429, 'Too many exports are under way. Please try again later.'],
  too_many_searches: [429, THROTTLED],
  too_many_passwords: [429, THROTTLED],
  too_many_reports: [429, THROTTLED],
  too_many_imports: [429, THROTTLED],
  too_many_simulations: [429, THROTTLED],
  too_many_batches: [429, THROTTLED],
  too_many_erasures: [429, THROTTLED],
  webhook_disabled: [409, 'The webhook is disabled.'],
  secret_rotated: [409, 'The secret was rotated less than 24 hours ago.'],
  idempotency_key_reused: [422, 'This Idempotency-Key has already been used for another request.'],
  cursor_gone: [410, 'Invalid cursor.'],
  session_refused: [409, 'The session does not allow this.'],
  graders_missing: [409, 'There is nobody to grade it.'],
  invalid: [400, 'Invalid input.'],
  malformed_request: [400, 'Malformed request.'],
  malformed_json: [400, 'JSON parse error'],
  forbidden_property: [400, FORBIDDEN_PROPERTY],
  request_timeout: [408, 'Request timed out.'],
  headers_too_large: [431, 'Request header fields too large.'],
  body_too_large: [413, 'Request body too large.'],
  unsupported_media_type: [415, 'Unsupported media type'],
  unsupported_encoding: [415, 'Unsupported content encoding'],
  rate_limited: [429, THROTTLED],
  too_many_uploads: [429, THROTTLED],
  overloaded: [503, UNAVAILABLE],
  database_busy: [503, UNAVAILABLE],
  store_unavailable: [503, UNAVAILABLE],
  database_away: [503, UNAVAILABLE],
  internal: [500, 'Internal server error'],
} as const satisfies Record<FailureKind, [status: number, detail: string]>

/** Parts of a request that error texts repeat. */
type ErrorContext = Pick<FastifyRequest, 'method' | 'headers'>

/** Error body in the manner of Django REST framework: `detail`, or all errors by field. */
function presentFailure(failure: Failure, request: ErrorContext): { kind: FailureKind; status: number; body: object } {
  const { kind, issues } = failure
  const [status, detail] = answers[kind]
  if (issues.length > 0) return { kind: 'invalid', status: 400, body: formatIssues(issues) }
  if (kind === 'duplicate_invite') return { kind, status, body: { non_field_errors: [DUPLICATE] } }
  return { kind, status, body: { detail: formatDetail(failure, request, detail) } }
}

/** @param prefix path prefix of the interface. */
export const alternateEnvelope = (prefix: string): Envelope => ({
  prefix,
  sendFailure(failure, request, reply) {
    const { existingId } = failure
    const { kind, status, body } = presentFailure(failure, request)
    const existing = existingId && absoluteUrl(request, `${prefix}/assessment_invites/${existingId}`)
    reply.headers(failureHeaders({ ...failure, kind }, existing))
    if (status === 401) reply.header('www-authenticate', 'Api-Key realm="api"')
    return reply.code(status).send(body)
  },
  rawFailure(kind) {
    const [status, detail] = answers[kind]
    const headers = { 'content-type': 'application/json; charset=utf-8', ...failureHeaders({ kind }) }
    return { status, headers, body: JSON.stringify({ detail }) }
  },
})

function formatDetail({ kind, detail, retryAfter }: Failure, request: ErrorContext, text: string): string {
  switch (kind) {
    case 'method_not_allowed':
      return `Method "${request.method}" not allowed.`
    case 'unsupported_media_type':
      return `Unsupported media type "${request.headers['content-type'] ?? ''}" in request.`
    case 'unsupported_encoding':
      return `${text} "${request.headers['content-encoding'] ?? ''}" in request.`
    case 'rate_limited':
    case 'too_many_searches':
      return `${text} Expected available in ${retryAfter} seconds.`
    case 'malformed_json':
      return `${text} - ${detail}`
    default:
      return text
  }
}

function formatIssues(issues: Issue[]): Record<string, string[]> {
  // A Map, because clients choose the names of unknown fields: a plain object already has `constructor`.
  const errors = new Map<string, string[]>()
  for (const issue of issues) {
    const [field = '', ...path] = issue.field.split('.')
    const name = field === '' ? 'non_field_errors' : fieldName(field)
    const text = path.length > 0 ? `${path.join('.')}: ${formatIssue(issue)}` : formatIssue(issue)
    errors.set(name, [...(errors.get(name) ?? []), text])
  }
  return Object.fromEntries(errors)
}

/** The texts listed in alternate-behaviour.md. Errors of filters and JSON types have their text already. */
function formatIssue(issue: Issue): string {
  switch (issue.rule) {
    case 'required':
      return 'This field is required.'
    case 'blank':
      return 'This field may not be blank.'
    case 'email':
      return 'Enter a valid email address.'
    case 'integer':
      return 'A valid integer is required.'
    case 'minimum':
      return `Ensure this value is greater than or equal to ${issue.limit.minimum}.`
    case 'maximum':
      return `Ensure this value is less than or equal to ${issue.limit.maximum}.`
    case 'boolean':
      return 'Must be a valid boolean.'
    case 'uuid':
      return 'Must be a valid UUID.'
    case 'choice':
      return `Select a valid choice. ${issue.value} is not one of the available choices.`
    case 'maxItems':
      return `Ensure this field has no more than ${issue.limit} elements.`
    case 'maxLength':
      return `Ensure this field has no more than ${issue.limit} characters.`
    case 'keys':
      return `Ensure each key has 1 to ${issue.limit} characters: letters from A to Z, digits, _, . and -.`
    case 'maxWords':
      return `Ensure this field has no more than ${issue.limit} words.`
    case 'text':
      return 'Null characters are not allowed.'
    case 'color':
      return 'Enter a valid color of the form #RRGGBB.'
    case 'reference':
      return `Invalid pk "${issue.value}" - object does not exist.`
    case 'grader':
      return `Invalid pk "${issue.value}" - object is not an active grader or admin.`
    case 'idempotency-key':
      return 'Enter 1 to 255 printable ASCII characters without spaces.'
    case 'later':
      return `Ensure the expiry is not earlier than ${issue.limit.toISOString()}.`
    case 'move':
    case 'settled':
      return `The invite is ${issue.value}.`
    case 'mailed':
      return 'The invitation has been sent again too often.'
    case 'declined':
      return 'The candidate has declined the invite.'
    case 'changed':
      return 'This has been changed meanwhile.'
    case 'invited':
      return 'The assessment has invites.'
    case 'ahead':
    case 'keyMode':
    case 'target':
    case 'common':
    case 'account':
    case 'session':
      return 'Enter a valid value.'
    case 'malformed':
      return issue.text
  }
}

/** Errors in the OpenAPI document. */
export const errorDescription: ErrorDescription = {
  present: (failure) =>
    presentFailure(failure, { method: 'POST', headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' } }),
  schemaOf: (status) => (status === 400 ? Type.Union([DetailView, FieldErrorsView]) : DetailView),
  meanings: {
    400: 'A parameter, a filter or a field is not valid',
    401: 'Missing, unknown, expired or revoked API key',
    403: "The organization in the path is not the key's",
    404: 'The resource, or the page of the list, does not exist',
    408: 'The request took too long to arrive',
    413: 'The request body is larger than 64 KiB',
    415: 'The request body is not JSON, or is compressed',
    422: 'The Idempotency-Key has been used for another request',
    429: 'Rate limit exceeded; retry after the seconds in Retry-After',
    431: 'The address and the headers are too large',
    500: 'Internal server error',
    503: 'The service is overloaded or busy; retry after the seconds in Retry-After',
  },
  issues: [
    { field: 'email', rule: 'email' },
    { field: 'tags', rule: 'required' },
  ],
  challenges: true,
}
