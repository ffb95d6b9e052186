import type { FastifyRequest } from 'fastify'
import { QUEUES, type QueueFilter } from '../../../domain/submissions/grading/waiting-submissions.ts'
import { queryOf } from '../kit/paging.ts'

/** The filtered queue that a grader works through; empty if they came from elsewhere. */
type WorkedQueue = Partial<QueueFilter>

export function workedQueueOf(request: FastifyRequest): WorkedQueue {
  const query = queryOf(request)
  const queue = QUEUES.find((name) => name === query.get('queue'))
  if (!queue) return {}
  const assessmentId = query.get('assessment')
  return { queue, ...(assessmentId && { assessmentId }), myLanguages: query.get('languages') === 'mine' }
}

/** Query string that keeps the filter across pages. @returns empty, or beginning with a question mark. */
export function queueQuery({ queue, assessmentId, myLanguages }: WorkedQueue, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    ...(queue && { queue }),
    ...(assessmentId && { assessment: assessmentId }),
    ...(myLanguages && { languages: 'mine' }),
    ...more,
  })
  return query.size > 0 ? `?${query}` : ''
}
