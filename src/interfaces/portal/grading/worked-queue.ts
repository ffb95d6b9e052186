import type { FastifyRequest } from 'fastify'
import { QUEUES, type QueueFilter } from '../../../domain/submissions/grading/queue.ts'
import { queryOf } from '../kit/paging.ts'

/** The filtered queue that a grader works through; empty if they came from elsewhere. */
type WorkedQueue = Partial<QueueFilter>

export function workedQueueOf(request: FastifyRequest): WorkedQueue {
  const query = queryOf(request)
  const whose = QUEUES.find((queue) => queue === query.get('whose'))
  const assessmentId = query.get('assessment')
  return { ...(whose && { queue: whose }), ...(whose && assessmentId && { assessmentId }) }
}

/** Query string that keeps the filter across pages. @returns empty, or beginning with a question mark. */
export function queueQuery({ queue: whose, assessmentId }: WorkedQueue, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...(whose && { whose }), ...(assessmentId && { assessment: assessmentId }), ...more })
  return query.size > 0 ? `?${query}` : ''
}
