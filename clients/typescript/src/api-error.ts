/**
 * An answer that is no success.
 *
 * @property code what went wrong, as a word that stays the same when texts change (`X-Error-Code`); undefined where something between
 *   client and service has answered.
 * @property requestId by which the service's log knows the request.
 * @property headers of the answer.
 * @property existingId id of the invite that is there already, where the code is `duplicate_invite`.
 * @property body as it came, parsed where it is JSON.
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
  const told = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof told === 'string' ? told : undefined
}

/** What the generated client is to throw. @param error the answer's body, or what was thrown where there is no answer. */
export const toApiError = (error: unknown, response: Response | undefined): unknown =>
  response ? new ApiError(response, error) : error
