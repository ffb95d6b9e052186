import type { FastifyReply } from 'fastify'
import { HttpError } from '../errors/failure.ts'

const RETRY_AFTER_SECONDS = 1
/** What is left of a larger body is not read to its end only to be thrown away: its connection is closed. */
const READ_TO_END_BYTES = 64 * 1024

/**
 * Places for requests that are answered at the same time, so many for each of whoever asks; each is free again when its answer has gone,
 * or its client.
 *
 * @returns takes one. @throws HttpError too_many_uploads when there is none, from what is returned.
 */
export function createSlots(atOnce: number): (whose: string, reply: FastifyReply) => void {
  const taken = new Map<string, number>()
  return (whose, reply) => {
    const { raw, request } = reply
    const count = taken.get(whose) ?? 0
    if (count >= atOnce) {
      if (Number(request.headers['content-length'] ?? Infinity) > READ_TO_END_BYTES) reply.header('connection', 'close')
      throw new HttpError('too_many_uploads', { retryAfter: RETRY_AFTER_SECONDS })
    }
    if (raw.destroyed) return
    taken.set(whose, count + 1)
    raw.once('close', () => {
      const left = taken.get(whose)! - 1
      if (left > 0) taken.set(whose, left)
      else taken.delete(whose)
    })
  }
}
