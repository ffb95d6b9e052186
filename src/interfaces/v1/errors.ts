import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Issue, Move, Problem, Range, TargetFault } from '../../domain/errors.ts'
import { MAX_OPEN_BATCHES, MAX_OPEN_ERASURES, MAX_RESENDS } from '../../domain/limits.ts'
import { MAX_ENDPOINTS } from '../../domain/webhooks/endpoints.ts'
import { absoluteUrl } from '../../http/addresses/address.ts'
import type { RawResponse } from '../../http/errors/client-error.ts'
import type { Envelope } from '../../http/errors/envelope.ts'
import { type Failure, type FailureKind, FORBIDDEN_PROPERTY, failureHeaders } from '../../http/errors/failure.ts'
import type { ErrorDescription } from '../../http/openapi/errors.ts'
import type { NamePlace } from '../../http/requests/ignored-input.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { FILE_MESSAGES } from '../../tables/file-messages.ts'

/** v1.md, Error object. */
const ErrorView = Type.Object(
  { error: Type.String({ description: 'What went wrong, and what to do about it' }) },
  { [NAME]: 'ApiError' },
)
/** v1.md has one message for the status. */
const RATE_LIMITED = 'Rate limit exceeded. Please try again later.'

const formatBodyLimit = (bytes: number | undefined): string =>
  `The request body must not be larger than ${(bytes ?? 0) / 1024} KiB`

/** v1.md, Errors: status and message of each kind of failure. */
const answers = {
  api_key_missing: [401, 'API key is required'],
  api_key_unknown: [401, 'Invalid API key'],
  api_key_expired: [401, 'API key has expired'],
  api_key_revoked: [401, 'API key has been revoked'],
  organization_suspended: [
    401,
    'The organization is suspended: its API keys work again once an owner has ended that in the portal',
  ],
  assessment_not_found: [404, 'Assessment not found'],
  question_not_found: [404, 'Question not found'],
  invite_not_found: [404, 'Invite not found'],
  invite_batch_not_found: [404, 'Batch of invites not found'],
  member_not_found: [404, 'Member not found'],
  tag_not_found: [404, 'Tag not found'],
  media_not_found: [404, 'Not found'],
  submission_not_found: [404, 'Submission not found'],
  result_not_released: [404, 'The result has not been released yet'],
  api_key_not_found: [404, 'Not found'],
  webhook_not_found: [404, 'Webhook not found'],
  delivery_not_found: [404, 'Delivery not found'],
  ats_not_found: [404, 'Not found'],
  library_question_not_found: [404, 'Not found'],
  library_import_not_found: [404, 'Import not found'],
  share_link_not_found: [404, 'Not found'],
  suppression_not_found: [404, 'Suppression not found'],
  erasure_not_found: [404, 'Erasure not found'],
  archive_not_found: [404, 'Archive not found'],
  archive_downloading: [409, 'The archive is being downloaded'],
  sign_in_setting_not_found: [404, 'Setting not found'],
  not_permitted: [404, 'Not found'],
  path_not_found: [404, 'Not found'],
  page_not_found: [404, 'Not found'],
  method_not_allowed: [404, 'Not found'],
  organization_forbidden: [404, 'Not found'],
  live_key_required: [403, 'This needs a live key: it changes what live and test data share'],
  test_key_required: [403, 'This needs a test key: it is for test data only'],
  manage_required: [403, 'This needs a key with the right manage: an admin gives it in the portal, under Settings, Integrations'],
  insufficient_scope: [403, 'This key lacks the scope'],
  network_not_allowed: [403, 'This key may not be used from this address'],
  admin_refused: [403, 'API keys neither give nor take the role admin, and change nobody who has it'],
  changed_meanwhile: [409, 'It has been changed meanwhile: read it again'],
  state_conflict: [409, 'It is in a state that does not allow this'],
  duplicate_invite: [409, 'An invite for this email and assessment already exists'],
  duplicate_tag_name: [409, 'A tag with this name already exists'],
  live_tag_read_only: [400, 'This tag is live: a test key changes test tags only'],
  move_not_allowed: [409, 'The invite is in a state that does not allow this'],
  invite_declined: [409, 'The candidate has declined the invite. To invite them anyway, send afterDecline: true'],
  too_many_mails: [429, 'The invitation has been sent again too often'],
  too_many_webhooks: [409, `An organization can have at most ${MAX_ENDPOINTS} webhooks`],
  too_many_exports: [429, 'Too many exports are under way. Please try again later.'],
  too_many_searches: [429, RATE_LIMITED],
  too_many_passwords: [429, RATE_LIMITED],
  too_many_reports: [429, 'Too many reports are under way. Please try again later.'],
  too_many_imports: [429, 'Too many imports are under way. Please try again later.'],
  too_many_simulations: [429, 'Too many simulations are under way. Please try again later.'],
  too_many_erasures: [429, `At most ${MAX_OPEN_ERASURES} erasures can be under way. Please try again later.`],
  too_many_batches: [429, `At most ${MAX_OPEN_BATCHES} batches can be under way. Please try again later.`],
  webhook_disabled: [409, 'The webhook is disabled: enable it first'],
  secret_rotated: [409, 'The secret was rotated less than 24 hours ago: the one before would stop at once. With force it does'],
  idempotency_key_reused: [422, 'This Idempotency-Key has already been used for another request'],
  cursor_gone: [410, 'The events behind this cursor are no longer kept. List everything again, and go on from its Events-Cursor'],
  session_refused: [409, 'The session does not allow this'],
  graders_missing: [
    409,
    'There is nobody to grade it: that takes an active member with the role grader or admin, or two of them where the assessment is graded twice',
  ],
  invalid: [400, 'The request is not valid'],
  malformed_request: [400, 'The request is malformed'],
  malformed_json: [400, 'The request body is not valid JSON'],
  forbidden_property: [400, FORBIDDEN_PROPERTY],
  unsupported_encoding: [400, 'The request body must not be compressed: send it without the header Content-Encoding'],
  unsupported_media_type: [400, 'The request body must be JSON, with the header Content-Type: application/json'],
  request_timeout: [408, 'The request took too long to arrive'],
  headers_too_large: [431, 'The address and the headers must not be larger than 16 KiB'],
  body_too_large: [413, formatBodyLimit(64 * 1024)],
  rate_limited: [429, RATE_LIMITED],
  too_many_uploads: [429, 'Too many files are being uploaded. Please try again later.'],
  overloaded: [503, 'The service is overloaded. Please try again later.'],
  database_busy: [503, 'The service is busy. Please try again later.'],
  store_unavailable: [503, 'Photos and recordings can not be reached at the moment. Please try again later.'],
  database_away: [503, 'The service is busy. Please try again later.'],
  internal: [500, 'Internal server error'],
} as const satisfies Record<FailureKind, [status: number, message: string]>

/** Kinds of failure whose message is that of the first issue. */
const KINDS_WITH_ISSUE_TEXT: readonly FailureKind[] = [
  'invalid',
  'move_not_allowed',
  'too_many_mails',
  'changed_meanwhile',
  'state_conflict',
  'cursor_gone',
]

/** A failure in v1's envelope, which has a single message. */
function presentFailure({ kind, issues, detail }: Failure) {
  const [status, message] = answers[kind]
  const first = KINDS_WITH_ISSUE_TEXT.includes(kind) ? issues[0] : undefined
  const error = first ? formatFirstIssue(first, issues) : detail === undefined ? message : `${message}: ${detail}`
  return { status, body: { error } }
}

/** Names all unknown ids, so that the client can correct them at once. */
function formatFirstIssue(first: Issue, issues: Issue[]): string {
  if (first.rule !== 'reference' || isLanguageField(first.field)) return formatIssue(first)
  const ids = issues.flatMap((issue) => (issue.rule === 'reference' && issue.field === first.field ? [issue.value] : []))
  return ids.length === 1 ? formatIssue(first) : `${first.field} must be of this organization: ${ids.join(', ')} are not`
}

const isLanguageField = (field: string): boolean => /^(languages|sourceLanguage|targetLanguage)$/.test(field)

function sendFailure(failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { existingId } = failure
  const { status, body } = presentFailure(failure)
  const existing = existingId && absoluteUrl(request, `${v1Envelope.prefix}/invites/${existingId}`)
  reply.headers(failureHeaders(failure, existing))
  // The message names the route's limit.
  const responseBody = failure.kind === 'body_too_large' ? { error: formatBodyLimit(request.routeOptions.bodyLimit) } : body
  return reply.code(status).send(responseBody)
}

function rawFailure(kind: FailureKind): RawResponse {
  const { status, body } = presentFailure({ kind, issues: [] })
  const headers = { 'content-type': 'application/json; charset=utf-8', ...failureHeaders({ kind }) }
  return { status, headers, body: JSON.stringify(body) }
}

export const v1Envelope: Envelope = { prefix: '/api/v1', sendFailure, rawFailure }

/** Message for a name that `Prefer: handling=strict` refuses. */
export function formatUnknownName(place: NamePlace, name: string, suggestion: string | undefined, known: string[]): string {
  const hint = known.length === 0 ? `It takes no ${place}s` : `Its ${place}s are ${known.join(', ')}`
  return `${name} is not a ${place} of this request. ${suggestion === undefined ? hint : `Did you mean ${suggestion}?`}`
}

export function formatIssue(issue: Issue): string {
  const { field } = issue
  switch (issue.rule) {
    case 'required':
      return `${field} is required`
    case 'integer':
    case 'minimum':
      return `${field} must be ${issue.limit.minimum === 1 ? 'a positive integer' : formatRange(issue.limit)}`
    case 'maximum':
      return `${field} must be ${formatRange(issue.limit)}`
    case 'boolean':
      return `${field} must be true or false`
    case 'choice':
      return `${field} must be one of ${issue.limit.join(', ')}`
    case 'uuid':
      return `${field} must be a UUID`
    case 'email':
      return `${field} is not a valid email address`
    case 'maxLength':
      return `${field} must be at most ${issue.limit} characters long`
    case 'maxItems':
      return `${field} must have at most ${issue.limit} items`
    case 'keys':
      return `${field} must have keys of 1 to ${issue.limit} characters: letters from A to Z, digits, _, . and -`
    case 'maxWords':
      return `${field} must have at most ${issue.limit} words`
    case 'text':
      return `${field} must not contain NUL characters or unpaired surrogates`
    case 'blank':
      return `${field} must not be blank, nor contain NUL characters or unpaired surrogates`
    case 'color':
      return `${field} must be a hex color of the form #RRGGBB`
    case 'later':
      return `${field} must not lead to an earlier expiry than the present one, ${issue.limit.toISOString()}`
    case 'move':
      return `The invite is ${issue.value} and can not be ${participles[issue.limit]}`
    case 'settled':
      return `${field} can be changed only while the invite is pending; it is ${issue.value}`
    case 'mailed':
      return issue.limit
        ? `The invitation has been sent again too often. It can be sent again from ${issue.limit.toISOString()}`
        : `The invitation has been sent again ${MAX_RESENDS} times, as often as it can be. Give the candidate its link instead`
    case 'declined':
      return 'The candidate has declined the invite'
    case 'idempotency-key':
      return `${field} must be 1 to 255 printable ASCII characters without spaces`
    case 'target':
      return `${field} ${targetFaults[issue.problem]}`
    case 'reference':
      if (isLanguageField(field)) return `${field} must be codes of languages (BCP 47)`
      return `${field} must be of this organization: ${issue.value} is not`
    case 'ahead':
      return 'The feed of events has not reached this cursor: it is of another service, or of this one before it was restored from a backup. List everything again, and go on from its Events-Cursor'
    case 'keyMode':
      return issue.value === 'test'
        ? 'mode must be test, because this is a test key. Use a live key for live data'
        : `mode must be one of ${issue.limit.join(', ')}, because this is a live key. Use a test key for test data`
    case 'grader':
      return `${field} must be an active member with the role grader or admin`
    case 'changed':
      return `${field} has been changed meanwhile`
    case 'invited':
      return issue.value === 'test'
        ? 'The assessment has test invites: DELETE /test-data with a test key deletes them'
        : 'The assessment has invites'
    case 'common':
      return `${field} is easy to guess`
    case 'account':
      return formatProblem(issue.problem)?.(field, issue.limit ?? 0) ?? `${field} is not valid`
    case 'session':
      return `${field} is not valid`
    case 'malformed':
      return issue.text
  }
}

const formatProblem = (problem: Problem) => accountProblems[problem] ?? FILE_MESSAGES[problem as keyof typeof FILE_MESSAGES]

/** Issues that the portal and this interface share. */
const accountProblems: Partial<Record<Problem, (field: string, limit: number) => string>> = {
  empty: (field) => `${field} must have at least one item`,
  points: (field, limit) => `${field} must be between 0 and ${limit}, in steps of 0.5`,
  released: () => 'The result is released: reopen it first',
  notReleased: () => 'The result is not released',
  ungraded: (_field, number) => `Question ${number} is not graded yet`,
  undecided: (_field, number) =>
    `The two grades of question ${number} are too far apart: an admin or a third grader has to decide`,
  regraded: (_field, number) => `The grader has graded question ${number} since: read the grades again`,
  otherPoints: (_field, points) => `It was graded otherwise meanwhile: it is ${points} points now`,
  uncommented: (_field, points) => `comment must say why the points differ from those of the key: ${points}`,
  unlikeRubric: (_field, points) => `comment must say why the points differ from those of the chosen levels: ${points}`,
  levels: (_field, number) => `The rubric of question ${number} has other levels`,
  assignedToOther: (_field, number) => `question ${number} is assigned to another grader`,
  gradesAlready: (field) => `${field} must not be the other grader as well`,
  notHttps: (field) => `${field} must begin with https://`,
  asksNothing: () => 'The question needs a script, an audioUrl or a videoUrl',
  lastAdmin: () => 'The organization needs an active admin',
  foreignDomain: () =>
    'Members sign in by single sign-on: the email must belong to a verified domain, or to a guest that an owner has added',
  deactivated: () => 'The member is deactivated: to make them active again, send reactivate: true',
}

/** Names both bounds. v1.md has its own text for the lower bound alone. */
const formatRange = ({ minimum, maximum }: Range): string => `an integer between ${minimum} and ${maximum}`

const participles: Record<Move | 'expire' | 'retake' | 'accommodate' | 'remind', string> = {
  accommodate: 'given other extra time',
  remind: 'sent a reminder',
  retake: 'taken again',
  expire: 'expired',
  accept: 'accepted',
  start: 'started',
  complete: 'completed',
  decline: 'declined',
  revoke: 'revoked',
  resend: 'sent again',
  extend: 'extended',
  reactivate: 'reactivated',
}

const targetFaults: Record<TargetFault, string> = {
  url: 'is not a URL',
  scheme: 'must begin with https://',
  credentials: 'must not contain a user name or password',
  port: 'must have the port 80, 443, or one above 1023',
  host: 'must not lead to a private or reserved address: the operator can allow it by the setting WEBHOOK_ALLOW',
  unlisted: 'must be of a host that the organization has listed in its settings',
}

/** Errors in the OpenAPI document. */
export const errorDescription: ErrorDescription = {
  present: presentFailure,
  schemaOf: () => ErrorView,
  meanings: {
    400: 'Invalid or missing request parameters',
    401: 'Missing, unknown, expired or revoked API key',
    403: 'The API key may not do this',
    404: 'The requested resource does not exist',
    408: 'The request took too long to arrive',
    409: 'The resource already exists, or is in a state that does not allow this',
    410: 'The events behind the cursor are no longer kept',
    413: 'The request body is too large',
    422: 'The Idempotency-Key has been used for another request',
    429: 'Rate limit exceeded; retry after the seconds in Retry-After',
    431: 'The address and the headers are too large',
    500: 'Internal server error',
    503: 'The service is overloaded or busy; retry after the seconds in Retry-After',
  },
  issues: [{ field: 'recipientEmail', rule: 'email' }],
  challenges: false,
}
