import http from 'node:http'
import https from 'node:https'
import manifest from '../../package.json' with { type: 'json' }
import type { Allowance } from '../domain/networks/allowance.ts'
import { findTargetFault } from '../domain/webhooks/targets.ts'
import { guardedLookup, type Resolve, resolvePublicName } from './resolve.ts'

/** Response of an endpoint. @property body its beginning. */
export type EndpointResponse = { status: number; body: string; retryAfter: string | undefined }

/**
 * @property method default POST. @property deadlineMs for the whole exchange, default {@link DEADLINE_MS}. @property keptBytes of the response
 * body, default {@link KEPT_BYTES}.
 */
export type PostOptions = { method?: string; deadlineMs?: number; keptBytes?: number }

/** Sends one request, without body if it is empty. @throws Error with the reason if there is no complete response. */
export type Post = (
  url: string,
  headers: Record<string, string>,
  body: string,
  stop: AbortSignal,
  options?: PostOptions,
) => Promise<EndpointResponse>

/** Milliseconds for DNS lookup, connection, request, and whole response. */
const DEADLINE_MS = 15_000
const MAX_HEADER_BYTES = 16 * 1024
/** Bytes read of a response. Reading a longer one stops early, and its status counts. */
const MAX_READ_BYTES = 64 * 1024
const KEPT_BYTES = 1024
const USER_AGENT = `Assessment-Invitation-Service/${manifest.version}`

/**
 * Creates the HTTP client for webhooks and for reports to applicant tracking systems. Each request has its own connection to a freshly checked
 * address, without proxy, cookies, or redirects.
 */
export const createPost =
  (allowance: Allowance, resolve: Resolve = resolvePublicName): Post =>
  async (text, headers, body, stop, { method = 'POST', deadlineMs = DEADLINE_MS, keptBytes = KEPT_BYTES } = {}) => {
    const fault = findTargetFault(allowance, text)
    if (fault) throw new Error(`The address is refused: its ${fault} is not allowed`)
    const url = new URL(text)
    const protocol = url.protocol === 'https:' ? https : http
    let isLate = false
    const request = protocol.request(url, {
      method,
      headers: {
        ...(body !== '' && { 'content-type': 'application/json' }),
        'content-length': Buffer.byteLength(body),
        'user-agent': USER_AGENT,
        ...headers,
      },
      agent: new protocol.Agent({ keepAlive: false }),
      lookup: guardedLookup(allowance, resolve),
      signal: stop,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    const deadline = setTimeout(() => {
      isLate = true
      request.destroy()
    }, deadlineMs)
    try {
      return await readAnswer(request, body, keptBytes)
    } catch (error) {
      throw isLate ? new Error(`No complete answer within ${deadlineMs / 1000} s`, { cause: error }) : error
    } finally {
      clearTimeout(deadline)
      request.destroy()
    }
  }

const readAnswer = (request: http.ClientRequest, body: string, keptBytes: number): Promise<EndpointResponse> =>
  new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('close', () => reject(new Error('The connection was closed without an answer')))
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let length = 0
      const finish = () =>
        resolve({
          status: response.statusCode!,
          body: Buffer.concat(chunks).subarray(0, keptBytes).toString('utf8'),
          retryAfter: response.headers['retry-after'],
        })
      response.on('data', (chunk: Buffer) => {
        if (length < keptBytes) chunks.push(chunk)
        length += chunk.length
        if (length > MAX_READ_BYTES) finish()
      })
      response.on('end', finish)
      response.on('error', reject)
    })
    request.end(body)
  })
