import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { type QueueFilter, type QueueName, visibleQueues, waitingSubmissions } from './queue.ts'
import { requireGraderId } from './save-grade.ts'

/** No further than this is looked: who grades takes what has waited longest, and it costs the same however many wait. */
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
 * A grader works through the queue that they have filtered. Else an admin works through all that wait; a grader through what is assigned to
 * them or, from what is not, through what nobody has.
 */
export async function findQueuePlace(
  ctx: Context,
  { id, graderId, secondGraderId }: { id: string; graderId: string | null; secondGraderId: string | null },
  worked: Partial<QueueFilter> = {},
): Promise<QueuePlace> {
  const isMine = [graderId, secondGraderId].includes(requireGraderId(ctx))
  const byDefault: QueueName = may(ctx, 'read') ? 'all' : isMine ? 'mine' : 'nobody'
  const isWorked = worked.queue !== undefined && visibleQueues(ctx).includes(worked.queue)
  const filter: QueueFilter = { ...(isWorked && worked), queue: isWorked ? worked.queue! : byDefault }
  const { queue: whose } = filter
  const waiting = waitingSubmissions(ctx, filter).orderBy('submissions.submittedAt').orderBy('submissions.id').limit(FIRST)
  const ids = (await waiting.select('submissions.id').execute()).map((row) => row.id)
  const at = ids.indexOf(id)
  const length = ids.length === FIRST ? `${FIRST - 1}+` : String(ids.length)
  if (at === -1) return { queue: whose, position: null, length, before: null, after: ids[0] ?? null }
  return { queue: whose, position: at + 1, length, before: ids[at - 1] ?? null, after: ids[at + 1] ?? null }
}
