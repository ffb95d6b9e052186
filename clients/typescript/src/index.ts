import { toApiError } from './api-error.js'
import { createClient } from './generated/client/index.js'
import { Api } from './generated/sdk.gen.js'
import { type RetryOptions, retrying } from './retry.js'

export { ApiError } from './api-error.js'
export type * from './generated/types.gen.js'
export { everyItem, followEvents } from './lists.js'
export { verifyWebhook, WebhookError, type WebhookMessage, type WebhookRequest } from './webhooks.js'
export type { Api }

/**
 * @property service where it is reached, as `https://assess.example.org`: without a path.
 * @property key of the API.
 * @property strict whether a field or parameter that the service does not know is an error, instead of being ignored.
 */
export type Connection = { service: string; key: string; strict?: boolean } & RetryOptions

/** The generated client leaves `{name}` in the address where a path parameter is undefined: such a request must not be sent. */
function refuseMissingParameters(request: Request): Request {
  const name = /%7B(\w+)%7D/i.exec(new URL(request.url).pathname)?.[1]
  if (name !== undefined) throw new TypeError(`The path parameter ${name} is missing`)
  return request
}

/**
 * The operations of API v1, by their names in its OpenAPI document. Each resolves to `{ data, response }`, and throws an {@link ApiError}
 * for whatever is not an answer of success.
 */
export function connect({ service, key, strict = false, ...retries }: Connection): Api {
  const client = createClient({
    baseUrl: service,
    auth: key,
    fetch: retrying(retries) as typeof fetch,
    throwOnError: true,
    ...(strict && { headers: { Prefer: 'handling=strict' } }),
  })
  client.interceptors.error.use(toApiError)
  client.interceptors.request.use(refuseMissingParameters)
  return new Api({ client })
}
