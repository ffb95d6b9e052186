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
 * @property service URL of the service without a path, such as `https://assess.example.org`.
 * @property key API key.
 * @property strict true makes an unknown field or parameter an error. Default: it is ignored.
 */
export type Connection = { service: string; key: string; strict?: boolean } & RetryOptions

function checkConnection(service: string, key: string): void {
  const { protocol = '', pathname = '' } = URL.canParse(service) ? new URL(service) : {}
  if (!/^https?:$/.test(protocol) || pathname !== '/')
    throw new TypeError('service must be the URL of the service without a path, such as https://assess.example.org')
  if (!key) throw new TypeError('key must be an API key')
}

/** The generated client leaves `{name}` in the path if a parameter is undefined. Such a request must not be sent. */
function refuseMissingParameters(request: Request): Request {
  const name = /%7B(\w+)%7D/i.exec(new URL(request.url).pathname)?.[1]
  if (name !== undefined) throw new TypeError(`The path parameter ${name} is missing`)
  return request
}

/**
 * Returns the operations of API v1, with the names of its OpenAPI document. Each resolves to `{ data, response }`.
 *
 * @throws TypeError for an address or a key of another form. Each operation throws an ApiError for an error response.
 */
export function connect({ service, key, strict = false, ...retries }: Connection): Api {
  checkConnection(service, key)
  const client = createClient({
    baseUrl: new URL(service).origin,
    auth: key,
    fetch: retrying(retries) as typeof fetch,
    throwOnError: true,
    ...(strict && { headers: { Prefer: 'handling=strict' } }),
  })
  client.interceptors.error.use(toApiError)
  client.interceptors.request.use(refuseMissingParameters)
  return new Api({ client })
}
