import { hash } from 'node:crypto'
import { doOnce } from '../../concurrency/do-once.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import type { PreparedSession } from './session.ts'

/**
 * Does what a candidate's browser asks for at most once for the id that it has given the attempt: asked again, also at the same time or by
 * another process, it gets what was granted first. Without an id, each request is an attempt of its own.
 *
 * @param what is attempted: an id that was used for something else is refused.
 * @param work does all its reading and writing through the context it is given. What it refuses may be attempted again.
 * @returns what the work returned, as JSON keeps it.
 * @throws DomainError idempotency_key_reused; whatever the work throws.
 */
export async function attemptOnce<Granted extends object>(
  { ctx, submission, attempt }: PreparedSession,
  what: string,
  work: (ctx: Context) => Promise<Granted>,
): Promise<Granted> {
  if (attempt === null) return inTransaction(ctx, work)
  // With a space, which no API client's key has; and another candidate's attempts have another submission.
  const key = `${submission.id} ${attempt}`
  const fingerprint = new Uint8Array(hash('sha256', what, 'buffer'))
  const { text } = await doOnce(ctx, { key, fingerprint }, async (inside) => ({
    code: 200,
    text: JSON.stringify(await work(inside)),
  }))
  return JSON.parse(text) as Granted
}
