import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for routes with a {@link BodyReader} once the request is accepted; null before. */
    bodySource: BodySource | null
  }
}

/**
 * Source of a body: memory is shared fairly between organizations, then between their senders.
 *
 * @property sender candidate's link, member, API key, or IP address. @property answer response to the request.
 */
export type BodySource = { organization: string; sender: string; answer: ServerResponse }

/** Reads a request's body into memory. @throws HttpError body_too_large, request_timeout, too_many_uploads, malformed_request. */
export type BodyReader = (request: FastifyRequest, payload: Readable) => Promise<Buffer>

type Body = Pick<BodySource, 'organization' | 'sender'> & {
  /** Bytes in memory. */
  bytes: number
  /** Rejects the body; null once it has arrived. */
  abort: ((error: Error) => void) | null
}

/** At least 8 kB per second must arrive. */
const PACE_MS = 5_000
const PACE_BYTES = 40_000
const RETRY_AFTER_SECONDS = 2

/**
 * Reads request bodies into memory, at most `budget` bytes in total. A body counts until its request is answered. When memory runs out, the
 * newest arriving body is rejected: of the organization with the most bytes, and there of the sender with the most bytes. A body that arrives
 * too slowly is rejected. The limit of a single body is the route's `bodyLimit`.
 *
 * @param paceMs milliseconds between two checks of the pace.
 */
export function createBodyReader(budget: number, paceMs = PACE_MS): BodyReader {
  /** Oldest first. */
  const bodies = new Set<Body>()
  let bufferedBytes = 0

  const makeRoom = (bytes: number) => {
    while (bufferedBytes + bytes > budget) {
      const victim = newestOfMost(bodies)
      if (!victim?.abort) return false
      victim.abort(outOfMemory())
    }
    return true
  }

  const admit = ({ organization, sender, answer }: BodySource): Body => {
    const body: Body = { organization, sender, bytes: 0, abort: null }
    bodies.add(body)
    answer.once('close', () => release(body))
    if (answer.destroyed) release(body)
    return body
  }
  const release = (body: Body) => {
    if (bodies.delete(body)) bufferedBytes -= body.bytes
  }
  const append = (body: Body, chunk: Buffer, content: Buffer) => {
    chunk.copy(content, body.bytes)
    body.bytes += chunk.length
    bufferedBytes += chunk.length
  }

  return async (request, payload) => {
    const { bodySource, is404, routeOptions, headers } = request
    if (is404) return Buffer.alloc(0) // nothing reads it
    if (!bodySource) throw new Error('request.bodySource is not set')
    const length = Number(headers['content-length'] ?? routeOptions.bodyLimit)
    if (length > routeOptions.bodyLimit) throw new HttpError('body_too_large')
    const body = admit(bodySource)
    // One buffer, because the overhead of small chunks can exceed their content. Pages that are never written take no memory.
    const content = Buffer.allocUnsafeSlow(length)
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    let bytesAtLastCheck = 0
    const checkPace = () => {
      if (body.bytes - bytesAtLastCheck < PACE_BYTES) body.abort?.(new HttpError('request_timeout'))
      bytesAtLastCheck = body.bytes
    }
    // setImmediate runs after pending input is read: if this process was busy, the data may have arrived already.
    const timer = setInterval(() => setImmediate(checkPace), paceMs)
    const stop = () => {
      clearInterval(timer)
      payload.off('data', receive).off('end', finish).off('close', fail).off('error', fail)
      body.abort = null
    }
    const receive = (chunk: Buffer) => {
      if (body.bytes + chunk.length > length) body.abort?.(new HttpError('body_too_large'))
      else if (!makeRoom(chunk.length)) body.abort?.(outOfMemory())
      else if (body.abort) append(body, chunk, content)
    }
    const finish = () => {
      stop()
      resolve(content.subarray(0, body.bytes))
    }
    const fail = () => body.abort?.(new HttpError('malformed_request'))
    body.abort = (error) => {
      stop()
      release(body)
      payload.on('error', () => {}).resume() // discards the rest
      reject(error)
    }
    payload.on('data', receive).once('end', finish).once('close', fail).once('error', fail)
    return promise
  }
}

const outOfMemory = () => new HttpError('too_many_uploads', { retryAfter: RETRY_AFTER_SECONDS })

/** The newest arriving body of the sender with the most bytes, in the organization with the most bytes. */
function newestOfMost(bodies: ReadonlySet<Body>): Body | undefined {
  const arriving = [...bodies].filter(({ abort }) => abort !== null)
  const ofMost = (candidates: Body[], nameOf: (body: Body) => string) => {
    const sums = new Map<string, number>()
    for (const body of bodies) sums.set(nameOf(body), (sums.get(nameOf(body)) ?? 0) + body.bytes)
    const most = Math.max(...candidates.map((body) => sums.get(nameOf(body))!))
    return candidates.filter((body) => sums.get(nameOf(body)) === most)
  }
  if (arriving.length === 0) return undefined
  return ofMost(
    ofMost(arriving, ({ organization }) => organization),
    ({ sender }) => sender,
  ).at(-1)
}
