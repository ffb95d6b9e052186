import type { FastifyReply } from 'fastify'
import { HttpError } from './failure.ts'

const RETRY_AFTER_SECONDS = 1

/**
 * Places for requests that are answered at the same time, so many for each of whoever asks; each is free again when its answer has gone,
 * or its client.
 *
 * @returns takes one. @throws HttpError too_many_uploads when there is none, from what is returned.
 */
export function createSlots(atOnce: number): (whose: string, reply: FastifyReply) => void {
  const taken = new Map<string, number>()
  return (whose, { raw }) => {
    const count = taken.get(whose) ?? 0
    if (count >= atOnce) throw new HttpError('too_many_uploads', { retryAfter: RETRY_AFTER_SECONDS })
    if (raw.destroyed) return
    taken.set(whose, count + 1)
    raw.once('close', () => {
      const left = taken.get(whose)! - 1
      if (left > 0) taken.set(whose, left)
      else taken.delete(whose)
    })
  }
}
