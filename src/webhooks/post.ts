import http from 'node:http'
import https from 'node:https'
import type { Allowance } from '../domain/context.ts'
import { findTargetFault } from '../domain/webhooks/targets.ts'
import { guardedLookup, type Resolve, resolvePublicName } from './resolve.ts'

/** What an endpoint answered: the status, the beginning of the body, and the header Retry-After. */
export type Answer = { status: number; body: string; retryAfter: string | undefined }

/**
 * @property method POST unless given. @property deadlineMs for everything, {@link DEADLINE_MS} unless given. @property keptBytes of the answer's
 * body, {@link KEPT_BYTES} unless given.
 */
export type PostOptions = { method?: string; deadlineMs?: number; keptBytes?: number }

/** Sends one message; an empty body is none. @throws Error that says why there is no complete answer. */
export type Post = (
  url: string,
  headers: Record<string, string>,
  body: string,
  stop: AbortSignal,
  options?: PostOptions,
) => Promise<Answer>

/** Milliseconds for everything: finding the host, connecting, sending, and the whole of the answer. */
const DEADLINE_MS = 15_000
const MAX_HEADER_BYTES = 16 * 1024
/** Of an answer. What is longer is not read to its end; its status counts all the same. */
const MAX_READ_BYTES = 64 * 1024
const KEPT_BYTES = 1024
const USER_AGENT = 'Assessment-Invitation-Service'

/**
 * The way out for webhooks, and for reports to applicant tracking systems. Each message has a connection of its own, to an address that has just been checked: no proxy, no cookies, and
 * no redirect is followed.
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

const readAnswer = (request: http.ClientRequest, body: string, keptBytes: number): Promise<Answer> =>
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
