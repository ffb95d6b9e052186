import type { PgBoss } from 'pg-boss'
import { RECORDINGS } from './queue.ts'

/** Numbers of jobs. `delayed` counts those that wait for a retry or their start time. */
export type QueueCounts = { queue: string; waiting: number; delayed: number; active: number }

/** Measures all queues from pg-boss's counts, at most a minute old: counting the jobs each time would cost more with every job. */
export async function measureQueues(boss: PgBoss): Promise<QueueCounts[]> {
  const queues = await boss.getQueues()
  return queues.map(({ name, queuedCount, deferredCount, activeCount }) => ({
    queue: name,
    waiting: Math.max(0, queuedCount - deferredCount),
    delayed: deferredCount,
    active: activeCount,
  }))
}

// Uses pg-boss's index on unstarted jobs by queue.
const WAITING = `SELECT count(*)::int AS waiting, min(created_on) AS oldest FROM pgboss.job WHERE name = $1 AND state < 'active'`

/** Recordings that wait to be joined, and the age of the first. */
export async function measureWaitingRecordings(boss: PgBoss): Promise<{ waiting: number; oldest: Date | null }> {
  const { rows } = await boss.getDb().executeSql(WAITING, [RECORDINGS])
  return rows[0]
}
