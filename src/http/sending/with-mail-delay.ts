import type { FastifyReply } from 'fastify'
import type { Context } from '../../domain/context.ts'
import { readMailSchedule } from '../../domain/invites/mail-schedule.ts'

/** A shorter delay is not worth telling of. */
const HOUR_MS = 3_600_000

/**
 * Does what queues a mail. `Mail-Delayed-Until` of the answer is the time at which the mail leaves, if that is more than an hour away.
 *
 * @param ahead number of other new mails that leave before it.
 */
export async function withMailDelay<Result>(
  ctx: Context,
  reply: FastifyReply,
  work: () => Promise<Result>,
  ahead = 0,
): Promise<Result> {
  const leavesAt = await (await readMailSchedule(ctx)).leavesAt(ahead)
  const result = await work()
  if (leavesAt.getTime() - ctx.deps.clock().getTime() > HOUR_MS) reply.header('mail-delayed-until', leavesAt.toISOString())
  return result
}
