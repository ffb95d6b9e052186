import type { FastifyReply } from 'fastify'
import type { Context } from '../../domain/context.ts'
import { readMailSchedule } from '../../domain/invites/mail-schedule.ts'

/** Shorter delays are not reported. */
const MIN_DELAY_MS = 3_600_000

/**
 * Runs work that queues a mail. Sets `Mail-Delayed-Until` if the mail leaves more than an hour later.
 *
 * @param mailsAhead number of other new mails that leave before it.
 */
export async function withMailDelay<Result>(
  ctx: Context,
  reply: FastifyReply,
  work: () => Promise<Result>,
  mailsAhead = 0,
): Promise<Result> {
  const leavesAt = await (await readMailSchedule(ctx)).leavesAt(mailsAhead)
  const result = await work()
  if (leavesAt.getTime() - ctx.deps.clock().getTime() > MIN_DELAY_MS) reply.header('mail-delayed-until', leavesAt.toISOString())
  return result
}
