import { hash } from 'node:crypto'
import { withIdempotencyKey } from '../../concurrency/idempotency.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import type { PreparedSession } from './session.ts'

/**
 * Does a candidate's request once per idempotency key. A repeated request gets the first result, also if it comes at the same time or to
 * another process. Without a key, each request does its work.
 *
 * @param what names the operation: a key that was used for another operation is refused.
 * @param work reads and writes through the context that it gets. If it throws, the key may be used again.
 * @returns the result of the work, after a round trip through JSON.
 * @throws DomainError idempotency_key_reused; whatever the work throws.
 */
export async function attemptOnce<Granted extends object>(
  { ctx, submission, idempotencyKey }: PreparedSession,
  what: string,
  work: (ctx: Context) => Promise<Granted>,
): Promise<Granted> {
  if (idempotencyKey === null) return inTransaction(ctx, work)
  // No API client's key contains a space, and each candidate has another submission: keys can't collide.
  const key = `${submission.id} ${idempotencyKey}`
  const fingerprint = new Uint8Array(hash('sha256', what, 'buffer'))
  const { text } = await withIdempotencyKey(ctx, { key, fingerprint }, async (inside) => ({
    code: 200,
    text: JSON.stringify(await work(inside)),
  }))
  return JSON.parse(text) as Granted
}
