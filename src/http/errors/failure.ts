import type { FastifyError } from 'fastify'
import { isDatabaseBusy, isDatabaseUnavailable } from '../../domain/database-errors.ts'
import { DomainError, type ErrorKind, type Issue, StoreUnavailable } from '../../domain/errors.ts'

/** Error codes of the domain and of the HTTP layer. */
export type FailureKind =
  | ErrorKind
  | 'path_not_found'
  | 'page_not_found'
  | 'organization_forbidden'
  | 'live_key_required'
  | 'test_key_required'
  | 'manage_required'
  | 'insufficient_scope'
  | 'method_not_allowed'
  | 'malformed_request'
  | 'malformed_json'
  | 'forbidden_property'
  | 'headers_too_large'
  | 'request_timeout'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'unsupported_encoding'
  | 'rate_limited'
  | 'too_many_uploads'
  | 'overloaded'
  | 'database_busy'
  | 'store_unavailable'
  | 'database_away'
  | 'internal'

export type Failure = {
  kind: FailureKind
  issues: Issue[]
  existingId?: string | undefined
  /** Seconds. */
  retryAfter?: number | undefined
  /** Parser message about a malformed body, or the missing scope. */
  detail?: string | undefined
}

/** Message of all interfaces for prototype pollution. */
export const FORBIDDEN_PROPERTY =
  'The request body contains forbidden prototype property names: __proto__, or constructor.prototype'

/** Path of the page that explains an error. */
const helpPath = (kind: FailureKind): string => `/docs/guides/errors#${kind}`

/** Headers of an error answer. @param existing address of the resource that the request duplicates. */
export const failureHeaders = (
  { kind, retryAfter }: Pick<Failure, 'kind' | 'retryAfter'>,
  existing?: string,
): Record<string, string> => ({
  'x-error-code': kind,
  link: [...(existing ? [`<${existing}>; rel="existing"`] : []), `<${helpPath(kind)}>; rel="help"`].join(', '),
  ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
})

/** Error of the HTTP layer. The domain throws DomainError. */
export class HttpError extends Error {
  readonly kind: FailureKind
  readonly retryAfter: number | undefined
  readonly detail: string | undefined

  constructor(kind: FailureKind, { retryAfter, detail }: { retryAfter?: number; detail?: string } = {}) {
    super(kind)
    this.name = 'HttpError'
    this.kind = kind
    this.retryAfter = retryAfter
    this.detail = detail
  }
}

const fastifyKinds: Record<string, FailureKind> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'path_not_found',
}

/** Longer than a migration holds locks, see db/migrate.ts. */
const BUSY_RETRY_AFTER_SECONDS = 5
/** Estimated time until the other work is done. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorKind, number>> = {
  too_many_searches: 5,
  too_many_passwords: 3,
  too_many_reports: 5,
  too_many_imports: 5,
  too_many_simulations: 5,
  too_many_batches: 30,
  too_many_erasures: 30,
  archive_downloading: 30, // connections of vanished clients are closed by then, see STALLED_AFTER_MS in runtime/app.ts
}

/** Classifies an error that was thrown while answering a request. Unknown errors are `internal`, and clients don't see their details. */
export function toFailure(error: unknown): Failure {
  if (error instanceof DomainError) {
    const { kind, issues, existingId, retryAfter } = error
    return { kind, issues, existingId, retryAfter: retryAfter ?? RETRY_AFTER_SECONDS[kind] }
  }
  if (error instanceof HttpError) return { kind: error.kind, issues: [], retryAfter: error.retryAfter, detail: error.detail }
  if (error instanceof StoreUnavailable) return { kind: 'store_unavailable', issues: [], retryAfter: BUSY_RETRY_AFTER_SECONDS }
  if (isDatabaseBusy(error)) return { kind: 'database_busy', issues: [], retryAfter: BUSY_RETRY_AFTER_SECONDS }
  if (isDatabaseUnavailable(error)) return { kind: 'database_away', issues: [], retryAfter: BUSY_RETRY_AFTER_SECONDS }
  const { code, statusCode } = error as Partial<FastifyError>
  const kind =
    fastifyKinds[code ?? ''] ??
    (statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? 'malformed_request' : 'internal')
  return { kind, issues: [] }
}
