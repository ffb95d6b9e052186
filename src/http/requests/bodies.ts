import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends the body, once it is known that it will be taken; null before. Only where a {@link BodyReader} reads. */
    bodySource: BodySource | null
  }
}

/** Who sends a body: what is held against them is held against the organization first, then against the link. With the answer to it. */
export type BodySource = { organization: string; link: string; answer: ServerResponse }

/** Reads a request's body whole. @throws HttpError body_too_large, request_timeout, too_many_uploads, malformed_request. */
export type BodyReader = (request: FastifyRequest, payload: Readable) => Promise<Buffer>

type Body = Pick<BodySource, 'organization' | 'link'> & {
  /** Of it that are in memory. */
  bytes: number
  /** While it is still being sent. */
  end: ((error: Error) => void) | null
}

/** So much has to arrive of a body within so many milliseconds, or all that is left of it: 8 kB a second. */
const PACE_MS = 5_000
const PACE_BYTES = 40_000
const RETRY_AFTER_SECONDS = 2

/**
 * Bodies of requests in memory, never more than `budget` bytes of all of them: what was read and is still worked with counts as well.
 * Where there is no more room, the newest body of who has most gives way: of the organization, and of its links. A body that stops
 * coming, or comes too slowly, is ended. The limit of each is the route's `bodyLimit`.
 *
 * @param paceMs how often it is looked how much has come.
 */
export function createBodyReader(budget: number, paceMs = PACE_MS): BodyReader {
  /** The oldest first. */
  const bodies = new Set<Body>()
  let held = 0

  const makeRoom = (bytes: number) => {
    while (held + bytes > budget) {
      const victim = newestOfMost(bodies)
      if (!victim?.end) return false
      victim.end(noRoom())
    }
    return true
  }

  const admit = ({ organization, link, answer }: BodySource): Body => {
    const body: Body = { organization, link, bytes: 0, end: null }
    bodies.add(body)
    answer.once('close', () => release(body))
    if (answer.destroyed) release(body)
    return body
  }
  /** Gives its room back: it is read no more. */
  const release = (body: Body) => {
    if (bodies.delete(body)) held -= body.bytes
  }
  const keep = (body: Body, chunk: Buffer, content: Buffer) => {
    chunk.copy(content, body.bytes)
    body.bytes += chunk.length
    held += chunk.length
  }

  return async (request, payload) => {
    const { bodySource, is404, routeOptions, headers } = request
    if (is404) return Buffer.alloc(0) // nothing reads it
    if (!bodySource) throw new Error('Nobody has said who sends this body')
    const length = Number(headers['content-length'] ?? routeOptions.bodyLimit)
    if (length > routeOptions.bodyLimit) throw new HttpError('body_too_large')
    const body = admit(bodySource)
    // In one piece: small ones would cost more than what is in them. What is not written to takes no memory yet.
    const content = Buffer.allocUnsafeSlow(length)
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    let atLastLook = 0
    const look = () => {
      if (body.bytes - atLastLook < PACE_BYTES) body.end?.(new HttpError('request_timeout'))
      atLastLook = body.bytes
    }
    // Not before what has arrived is read: where it was this process that was held up, it is there.
    const timer = setInterval(() => setImmediate(look), paceMs)
    const stop = () => {
      clearInterval(timer)
      payload.off('data', take).off('end', finish).off('close', lose).off('error', lose)
      body.end = null
    }
    const take = (chunk: Buffer) => {
      if (body.bytes + chunk.length > length) body.end?.(new HttpError('body_too_large'))
      else if (!makeRoom(chunk.length)) body.end?.(noRoom())
      else if (body.end) keep(body, chunk, content)
    }
    const finish = () => {
      stop()
      resolve(content.subarray(0, body.bytes))
    }
    const lose = () => body.end?.(new HttpError('malformed_request'))
    body.end = (error) => {
      stop()
      release(body)
      payload.on('error', () => {}).resume() // what still comes is thrown away
      reject(error)
    }
    payload.on('data', take).once('end', finish).once('close', lose).once('error', lose)
    return promise
  }
}

const noRoom = () => new HttpError('too_many_uploads', { retryAfter: RETRY_AFTER_SECONDS })

/** Of the bodies that are still being sent the newest of the link with most bytes, of the organization with most. */
function newestOfMost(bodies: ReadonlySet<Body>): Body | undefined {
  const arriving = [...bodies].filter(({ end }) => end !== null)
  const ofMost = (among: Body[], nameOf: (body: Body) => string) => {
    const sums = new Map<string, number>()
    for (const body of bodies) sums.set(nameOf(body), (sums.get(nameOf(body)) ?? 0) + body.bytes)
    const most = Math.max(...among.map((body) => sums.get(nameOf(body))!))
    return among.filter((body) => sums.get(nameOf(body)) === most)
  }
  if (arriving.length === 0) return undefined
  return ofMost(
    ofMost(arriving, ({ organization }) => organization),
    ({ link }) => link,
  ).at(-1)
}
