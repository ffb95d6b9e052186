import type { FastifyReply } from 'fastify'
import { HttpError } from '../errors/failure.ts'

const RETRY_AFTER_SECONDS = 1
/** The connection of a refused larger body is closed, so that the rest need not be read and discarded. */
const MAX_DISCARDED_BYTES = 64 * 1024

/**
 * Limits concurrent requests per key. A request counts until its response is closed.
 *
 * @param limit concurrent requests per key.
 * @returns a function that counts one request. It throws HttpError too_many_uploads above the limit.
 */
export function createConcurrencyLimiter(limit: number): (key: string, reply: FastifyReply) => void {
  const counts = new Map<string, number>()
  return (key, reply) => {
    const { raw, request } = reply
    const count = counts.get(key) ?? 0
    if (count >= limit) {
      if (Number(request.headers['content-length'] ?? Infinity) > MAX_DISCARDED_BYTES) reply.header('connection', 'close')
      throw new HttpError('too_many_uploads', { retryAfter: RETRY_AFTER_SECONDS })
    }
    if (raw.destroyed) return
    counts.set(key, count + 1)
    raw.once('close', () => {
      const remaining = counts.get(key)! - 1
      if (remaining > 0) counts.set(key, remaining)
      else counts.delete(key)
    })
  }
}
