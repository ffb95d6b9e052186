import { hash } from 'node:crypto'
import { withIdempotencyKey } from '../../concurrency/idempotency.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import type { PreparedSession } from './session.ts'

/**
 * Runs a candidate's request once per idempotency key. A repeated request gets the first result, also if it comes at the same time or to
 * another process. Without a key, each request runs.
 *
 * @param operation name of the operation; the same key for another operation is refused.
 * @param work uses the context it gets. If it throws, the key may be used again.
 * @returns the result of the work, after a round trip through JSON. @throws DomainError idempotency_key_reused; errors of `work`.
 */
export async function attemptOnce<Granted extends object>(
  { ctx, submission, idempotencyKey }: PreparedSession,
  operation: string,
  work: (ctx: Context) => Promise<Granted>,
): Promise<Granted> {
  if (idempotencyKey === null) return inTransaction(ctx, work)
  // No API client's key contains a space, and each candidate has another submission: keys can't collide.
  const key = `${submission.id} ${idempotencyKey}`
  const fingerprint = new Uint8Array(hash('sha256', operation, 'buffer'))
  const { text } = await withIdempotencyKey(ctx, { key, fingerprint }, async (inside) => ({
    code: 200,
    text: JSON.stringify(await work(inside)),
  }))
  return JSON.parse(text) as Granted
}
