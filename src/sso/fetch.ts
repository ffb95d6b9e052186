import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Allowance } from '../domain/networks/allowance.ts'
import { findTargetFault } from '../domain/webhooks/targets.ts'
import { guardedLookup, type Resolve, resolvePublicName } from '../webhooks/resolve.ts'

/** Milliseconds for a request, including DNS lookup and the whole response. */
const DEADLINE_MS = 5_000
/** Bytes of a response. Real metadata and keys have a tenth of that. */
const MAX_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 16 * 1024
const USER_AGENT = 'Assessment-Invitation-Service'

type RequestOptions = { method?: string; headers?: Record<string, string> | Headers; body?: unknown }
/** Like `fetch`, for the OpenID libraries. */
export type Fetch = (url: string, options?: RequestOptions) => Promise<Response>

/** There is no usable response. @property code the reason. */
export class Unreachable extends Error {
  readonly code: string
  constructor(code: string, cause?: unknown) {
    super(code, { cause })
    this.name = 'Unreachable'
    this.code = code
  }
}

/**
 * Creates the client for identity providers, whose addresses organizations enter. Like webhooks, each request has its own connection to a freshly
 * checked address. Redirects are not followed; long or late responses fail.
 */
export const createFetch =
  (allowance: Allowance, resolve: Resolve = resolvePublicName): Fetch =>
  async (text, asked = {}) => {
    const fault = findTargetFault(allowance, text)
    if (fault) throw new Unreachable(`refused_${fault}`)
    const request = openRequest(new URL(text), asked, guardedLookup(allowance, resolve))
    let isLate = false
    const deadline = setTimeout(() => {
      isLate = true
      request.destroy()
    }, DEADLINE_MS)
    try {
      return await readAnswer(request, bodyOf(asked))
    } catch (error) {
      if (error instanceof Unreachable && !isLate) throw error
      throw new Unreachable(isLate ? 'timeout' : codeOf(error), error)
    } finally {
      clearTimeout(deadline)
      request.destroy()
    }
  }

const bodyOf = ({ body }: RequestOptions): string => (body === undefined || body === null ? '' : String(body))

function openRequest(url: URL, asked: RequestOptions, lookup: LookupFunction): http.ClientRequest {
  const protocol = url.protocol === 'https:' ? https : http
  const sent = bodyOf(asked)
  return protocol.request(url, {
    method: asked.method ?? 'GET',
    headers: {
      ...Object.fromEntries(new Headers(asked.headers)),
      ...(sent !== '' && { 'content-length': Buffer.byteLength(sent) }),
      'user-agent': USER_AGENT,
    },
    agent: new protocol.Agent({ keepAlive: false }),
    lookup,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
}

const codeOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

const readAnswer = (request: http.ClientRequest, body: string): Promise<Response> =>
  new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('close', () => reject(new Unreachable('closed')))
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let length = 0
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > MAX_BYTES) reject(new Unreachable('too_large'))
        else chunks.push(chunk)
      })
      response.on('end', () => resolve(toResponse(response, Buffer.concat(chunks))))
      response.on('error', reject)
    })
    request.end(body)
  })

function toResponse({ statusCode = 502, headers }: http.IncomingMessage, body: Buffer): Response {
  const said = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
  )
  const hasBody = ![101, 204, 205, 304].includes(statusCode)
  return new Response(hasBody ? new Uint8Array(body) : null, { status: statusCode, headers: said })
}
