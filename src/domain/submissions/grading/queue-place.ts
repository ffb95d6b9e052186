import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { type AssignedGraders, assignedSlotOf } from './graded-submission.ts'
import { visibleQueues } from './queue.ts'
import { requireGraderId } from './save-grade.ts'
import { type QueueFilter, type QueueName, waitingSubmissions } from './waiting-submissions.ts'

/** Positions beyond this are not computed, so that the cost is constant. Graders usually take the oldest. */
const FIRST = 100

/**
 * Position of a submission in the actor's queue, and its neighbors.
 *
 * @property position from 1; null: beyond the first ones, or no longer waiting. @property length `99+` for more than are counted.
 * @property before the submission that waits longer. @property after the next one; without a position the first.
 */
export type QueuePlace = {
  queue: QueueName
  position: number | null
  length: string
  before: string | null
  after: string | null
}

/**
 * Place in the filtered queue. Default queues: for admins all; for graders their own, or the unassigned ones for an unassigned submission.
 */
export async function findQueuePlace(
  ctx: Context,
  submission: AssignedGraders & { id: string },
  worked: Partial<QueueFilter> = {},
): Promise<QueuePlace> {
  const me = requireGraderId(ctx)
  const isMine = [submission.grader?.id, submission.secondGrader?.id].includes(me) || assignedSlotOf(submission, me) !== null
  const byDefault: QueueName = may(ctx, 'read') ? 'all' : isMine ? 'mine' : 'nobody'
  const isWorked = worked.queue !== undefined && visibleQueues(ctx).includes(worked.queue)
  const filter: QueueFilter = { ...(isWorked && worked), queue: isWorked ? worked.queue! : byDefault }
  const { queue: queueName } = filter
  const waiting = waitingSubmissions(ctx, filter).orderBy('submissions.submittedAt').orderBy('submissions.id').limit(FIRST)
  const ids = (await waiting.select('submissions.id').execute()).map((row) => row.id)
  const index = ids.indexOf(submission.id)
  const length = ids.length === FIRST ? `${FIRST - 1}+` : String(ids.length)
  if (index === -1) return { queue: queueName, position: null, length, before: null, after: ids[0] ?? null }
  return { queue: queueName, position: index + 1, length, before: ids[index - 1] ?? null, after: ids[index + 1] ?? null }
}
