import { STATUS_CODES } from 'node:http'
import type { TSchema } from '@sinclair/typebox'
import type { Issue } from '../../domain/errors.ts'
import type { Failure, FailureKind } from '../errors/failure.ts'
import { type Components, pascalCase, publishSchema } from './components.ts'
import { describeHeaders, type HeaderName, STANDARD_HEADERS } from './headers.ts'

/** Errors of one interface. */
export type ErrorDescription = {
  present: (failure: Failure) => { status: number; body: object }
  /** Schema of error bodies by status. */
  schemaOf: (status: number) => TSchema
  /** Descriptions by status. */
  meanings: Record<number, string>
  /** For the example of `invalid`. */
  issues: Issue[]
  /** True if a 401 has `WWW-Authenticate`. */
  challenges: boolean
}

/** Properties of an operation that determine its errors. */
export type Traits = {
  hasBody: boolean
  hasPathParameter: boolean
  isIdempotent: boolean
  /** Kinds that the route declares. */
  declared: readonly FailureKind[]
}

/** Operations that can fail with a kind: all, those with a trait, or those that declare the kind. */
const occurrence = {
  api_key_missing: 'always',
  api_key_unknown: 'always',
  api_key_expired: 'always',
  api_key_revoked: 'always',
  organization_suspended: 'always',
  api_key_not_found: 'declared',
  not_permitted: 'declared',
  assessment_not_found: 'declared',
  question_not_found: 'declared',
  invite_not_found: 'declared',
  invite_batch_not_found: 'declared',
  member_not_found: 'declared',
  tag_not_found: 'declared',
  submission_not_found: 'declared',
  share_link_not_found: 'declared',
  result_not_released: 'declared',
  media_not_found: 'declared',
  webhook_not_found: 'declared',
  delivery_not_found: 'declared',
  ats_not_found: 'declared',
  library_question_not_found: 'declared',
  library_import_not_found: 'declared',
  suppression_not_found: 'declared',
  erasure_not_found: 'declared',
  archive_not_found: 'declared',
  archive_downloading: 'declared',
  sign_in_setting_not_found: 'declared',
  path_not_found: 'hasPathParameter',
  page_not_found: 'declared',
  organization_forbidden: 'declared',
  live_key_required: 'declared',
  test_key_required: 'declared',
  manage_required: 'declared',
  insufficient_scope: 'always',
  network_not_allowed: 'always',
  method_not_allowed: 'declared',
  duplicate_invite: 'declared',
  duplicate_tag_name: 'declared',
  live_tag_read_only: 'declared',
  move_not_allowed: 'declared',
  invite_declined: 'declared',
  too_many_mails: 'declared',
  too_many_webhooks: 'declared',
  too_many_exports: 'declared',
  too_many_searches: 'declared',
  too_many_passwords: 'declared',
  too_many_reports: 'declared',
  too_many_imports: 'declared',
  too_many_simulations: 'declared',
  too_many_batches: 'declared',
  too_many_erasures: 'declared',
  webhook_disabled: 'declared',
  secret_rotated: 'declared',
  idempotency_key_reused: 'isIdempotent',
  cursor_gone: 'declared',
  session_refused: 'declared',
  graders_missing: 'declared',
  changed_meanwhile: 'declared',
  state_conflict: 'declared',
  admin_refused: 'declared',
  invalid: 'always',
  malformed_request: 'always',
  malformed_json: 'hasBody',
  forbidden_property: 'hasBody',
  unsupported_media_type: 'hasBody',
  unsupported_encoding: 'hasBody',
  body_too_large: 'hasBody',
  request_timeout: 'always',
  headers_too_large: 'always',
  rate_limited: 'always',
  too_many_uploads: 'declared',
  overloaded: 'always',
  database_busy: 'always',
  store_unavailable: 'declared',
  database_away: 'always',
  internal: 'always',
} as const satisfies Record<FailureKind, 'always' | keyof Traits>
const kinds = Object.keys(occurrence) as FailureKind[]

/** Example data of kinds that need more than their name. */
const samples: Partial<Record<FailureKind, Partial<Failure>>> = {
  malformed_json: { detail: 'Unexpected end of JSON input' },
  move_not_allowed: { issues: [{ field: 'status', rule: 'move', value: 'completed', limit: 'revoke' }] },
  changed_meanwhile: { issues: [{ field: 'name', rule: 'changed', value: 'Customer support' }] },
  state_conflict: { issues: [{ field: '', rule: 'invited', value: 'live' }] },
  rate_limited: { retryAfter: 42 },
  too_many_mails: { retryAfter: 60, issues: [{ field: '', rule: 'mailed', limit: new Date('2026-03-02T09:31:00.000Z') }] },
  too_many_searches: { retryAfter: 5 },
  too_many_reports: { retryAfter: 5 },
  too_many_simulations: { retryAfter: 5 },
  too_many_imports: { retryAfter: 5 },
  too_many_batches: { retryAfter: 30 },
  too_many_erasures: { retryAfter: 30 },
}

/**
 * Error responses of an operation by status. Each is a component named after its status, or after the declared kinds, with an example of
 * every kind.
 */
export function errorResponses(errors: ErrorDescription, traits: Traits, components: Components): Record<number, object> {
  const present = (kind: FailureKind) =>
    errors.present({ kind, issues: kind === 'invalid' ? errors.issues : [], ...samples[kind] })
  const statusOf = (kind: FailureKind) => present(kind).status
  const occurs = (kind: FailureKind) => {
    const condition = occurrence[kind]
    return traits.declared.includes(kind) || condition === 'always' || (condition !== 'declared' && traits[condition])
  }
  const statuses = [...new Set(kinds.filter(occurs).map(statusOf))]
  const responses = statuses.map((status) => {
    const declared = traits.declared.filter((kind) => statusOf(kind) === status)
    const common = kinds.filter((kind) => occurrence[kind] !== 'declared' && statusOf(kind) === status)
    const kindsOfStatus = [...declared, ...common]
    const value = {
      description: errors.meanings[status] ?? STATUS_CODES[status],
      headers: {
        'X-Error-Code': describeErrorCode(kindsOfStatus),
        ...describeHeaders(headersOf(status, kindsOfStatus, errors), components),
      },
      content: {
        'application/json': {
          schema: publishSchema(errors.schemaOf(status), components),
          examples: Object.fromEntries(kindsOfStatus.map((kind) => [kind, { value: present(kind).body }])),
        },
      },
    }
    return [status, components.put('responses', nameOf(status, declared, common), value)]
  })
  return Object.fromEntries(responses)
}

function nameOf(status: number, declared: FailureKind[], common: FailureKind[]): string {
  const isAlsoCommon = declared.length === 0 || common.some((kind) => occurrence[kind] === 'always')
  return [...(isAlsoCommon ? [STATUS_CODES[status] ?? String(status)] : []), ...declared].map(pascalCase).join('Or')
}

const describeErrorCode = (kinds: FailureKind[]) => ({
  description: 'Error code. It stays the same when messages change.',
  required: true,
  schema: { type: 'string', enum: kinds },
})

/** Statuses of requests that could not be parsed. */
const UNREAD = [408, 431]
/** Statuses of requests that were refused before authentication and rate limit. */
const UNCOUNTED = [...UNREAD, 401, 503]

function headersOf(status: number, kinds: FailureKind[], { challenges }: ErrorDescription): HeaderName[] {
  const usual = UNCOUNTED.includes(status)
    ? STANDARD_HEADERS.filter((name) => name === 'X-Request-Id' && !UNREAD.includes(status))
    : STANDARD_HEADERS
  return [
    ...usual,
    ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ...(status === 401 && challenges ? (['WWW-Authenticate'] as const) : []),
    ...(kinds.includes('duplicate_invite') ? (['Link'] as const) : []),
  ]
}
