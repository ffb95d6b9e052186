import type { Event, WebhookTestEvent } from './generated/types.gen.js'

export type WebhookMessage = Event | WebhookTestEvent

/** The message was not signed by the service, or is too old. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

type HeaderSource = Headers | Record<string, string | string[] | undefined>
/**
 * @property body the raw body, before a JSON parser has read it.
 * @property headers of the request, with names in any case, or `Headers`.
 * @property secret of the webhook, `whsec_…`. During a rotation, both secrets.
 * @property tolerance maximum age in seconds, and clock difference. Default: 300.
 * @property now milliseconds since 1970. Default: the clock.
 */
export type WebhookRequest = {
  body: string | Uint8Array
  headers: HeaderSource
  secret: string | readonly string[]
  tolerance?: number
  now?: number
}

/**
 * Verifies the signature of a message (Standard Webhooks). A message can be delivered more than once: ignore a `webhook-id`, which is the
 * event's id, that you have processed before.
 *
 * @returns the event. @throws WebhookError; TypeError for a body that was parsed already, or a secret of another form.
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  tolerance = 300,
  now = Date.now(),
}: WebhookRequest): Promise<WebhookMessage> {
  checkTypes(body, [secret].flat())
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('webhook-id, webhook-timestamp, or webhook-signature is missing')
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= tolerance))
    throw new WebhookError('webhook-timestamp is too old or in the future')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = encode(`${id}.${timestamp}.${text}`)
  const sentSignatures = readSignatures(signatures)
  for (const signingSecret of [secret].flat())
    if (await isSignedBy(signingSecret, sentSignatures, signed)) return JSON.parse(text) as WebhookMessage
  throw new WebhookError('no signature matches')
}

function checkTypes(body: unknown, secrets: readonly unknown[]): void {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('body must be the raw body, a string or bytes, before a parser such as express.json() has read it')
  if (!secrets.every((secret) => typeof secret === 'string' && SECRET.test(secret)))
    throw new TypeError('secret must be the one that createWebhook returned, whsec_…')
}

const SECRET = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/

async function isSignedBy(secret: string, signatures: Bytes[], signed: Bytes): Promise<boolean> {
  const raw = decodeBase64(secret.replace(/^whsec_/, ''))
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  return false
}

type Bytes = Uint8Array<ArrayBuffer>

/** True also for the headers of another implementation of fetch. */
const isHeaders = (headers: HeaderSource): headers is Headers => typeof headers.get === 'function'

function readHeader(headers: HeaderSource, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return Array.isArray(value) ? value[0] : value
}

/** Reads version 1 signatures, and skips invalid base64. */
const readSignatures = (header: string): Bytes[] =>
  header.split(' ').flatMap((item) => {
    const [, text = ''] = /^v1,([A-Za-z0-9+/]+={0,2})$/.exec(item) ?? []
    return text.length > 0 && text.length % 4 === 0 ? [decodeBase64(text)] : []
  })

const encode = (text: string): Bytes => new TextEncoder().encode(text) as Bytes
const decodeBase64 = (text: string): Bytes => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
