import type { Event, WebhookTestEvent } from './generated/types.gen.js'

/** What webhooks are sent. */
export type WebhookMessage = Event | WebhookTestEvent

/** That a message is not the service's, or not of these minutes. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

type HeaderSource = Headers | Record<string, string | string[] | undefined>
/**
 * @property body as it arrived, before anything has parsed it.
 * @property headers of the request, with names in any case, or `Headers`.
 * @property secret of the webhook, `whsec_…`; while it is rotated, both.
 * @property tolerance seconds by which the message may be old, or the clocks differ; 300 unless given.
 * @property now milliseconds since 1970, by the clock unless given.
 */
export type WebhookRequest = {
  body: string | Uint8Array<ArrayBuffer>
  headers: HeaderSource
  secret: string | readonly string[]
  tolerance?: number
  now?: number
}

/**
 * Verifies a message by Standard Webhooks, and returns the event that it is. Ignore a `webhook-id`, which is the event's id, that you have
 * had: a message can come more than once.
 *
 * @throws WebhookError when it is not to be believed.
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  tolerance = 300,
  now = Date.now(),
}: WebhookRequest): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('webhook-id, webhook-timestamp or webhook-signature is missing')
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= tolerance)) throw new WebhookError('webhook-timestamp is too old, or ahead')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = encode(`${id}.${timestamp}.${text}`)
  const given = readSignatures(signatures)
  for (const one of [secret].flat()) if (await isSignedBy(one, given, signed)) return JSON.parse(text) as WebhookMessage
  throw new WebhookError('no signature fits')
}

async function isSignedBy(secret: string, signatures: Bytes[], signed: Bytes): Promise<boolean> {
  const raw = decodeBase64(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  return false
}

type Bytes = Uint8Array<ArrayBuffer>

/** Also those of another implementation of fetch, which are no instances of the platform's class. */
const isHeaders = (headers: HeaderSource): headers is Headers => typeof headers.get === 'function'

function readHeader(headers: HeaderSource, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return Array.isArray(value) ? value[0] : value
}

/** Those of the version that there is; what is no base64 is no signature. */
const readSignatures = (header: string): Bytes[] =>
  header.split(' ').flatMap((item) => {
    const [, text = ''] = /^v1,([A-Za-z0-9+/]+={0,2})$/.exec(item) ?? []
    return text.length > 0 && text.length % 4 === 0 ? [decodeBase64(text)] : []
  })

const encode = (text: string): Bytes => new TextEncoder().encode(text) as Bytes
const decodeBase64 = (text: string): Bytes => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
