/**
 * Error response.
 *
 * @property code error code (`X-Error-Code`). It stays the same when texts change; undefined if a proxy sent the response.
 * @property requestId id of the request in the service's log.
 * @property existingId id of the existing invite if the code is `duplicate_invite`.
 * @property body parsed if it is JSON.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string | undefined
  readonly requestId: string | undefined
  readonly headers: Headers
  readonly existingId: string | undefined
  readonly body: unknown

  constructor({ status, headers }: Response, body: unknown) {
    const code = headers.get('x-error-code') ?? undefined
    super([status, code, messageOf(body)].filter(Boolean).join(' '))
    this.status = status
    this.code = code
    this.requestId = headers.get('x-request-id') ?? undefined
    this.headers = headers
    this.existingId = /<[^<>]*\/([^/<>]+)>; rel="existing"/.exec(headers.get('link') ?? '')?.[1]
    this.body = body
  }
}

function messageOf(body: unknown): string | undefined {
  const message = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof message === 'string' ? message : undefined
}

/** Converts an error for the generated client to throw. @param error the response's body, or the error of a request without a response. */
export const toApiError = (error: unknown, response: Response | undefined): unknown =>
  response ? new ApiError(response, error) : error
