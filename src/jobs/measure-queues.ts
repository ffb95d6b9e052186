import type { PgBoss } from 'pg-boss'
import { RECORDINGS } from './queue.ts'

/** How many jobs of a queue wait, wait for their next try or their time, and are worked on. */
export type QueueMeasure = { queue: string; waiting: number; delayed: number; active: number }

/** Of all queues, as pg-boss has counted them last, which it does each minute at most: counting them each time would cost with their number. */
export async function measureQueues(boss: PgBoss): Promise<QueueMeasure[]> {
  const queues = await boss.getQueues()
  return queues.map(({ name, queuedCount, deferredCount, activeCount }) => ({
    queue: name,
    waiting: Math.max(0, queuedCount - deferredCount),
    delayed: deferredCount,
    active: activeCount,
  }))
}

// Its index has the jobs that nobody works on yet, by queue.
const WAITING = `SELECT count(*)::int AS waiting, min(created_on) AS oldest FROM pgboss.job WHERE name = $1 AND state < 'active'`

/** The recordings that wait to be joined: how many, and since when the first. */
export async function measureWaitingRecordings(boss: PgBoss): Promise<{ waiting: number; oldest: Date | null }> {
  const { rows } = await boss.getDb().executeSql(WAITING, [RECORDINGS])
  return rows[0]
}
