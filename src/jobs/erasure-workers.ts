import type { Job, JobResult, PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { continueErasure } from '../domain/erasure/continue-erasure.ts'
import { BATCH_OPTIONS, toJobResult } from './mail-workers.ts'
import { ERASURES, type ErasureJob, HEARTBEAT_REFRESH_SECONDS } from './queue.ts'
import { runJob } from './run-job.ts'

/** Two workers with four jobs each: a job that waits for the media store or a mail holds up only its own batch. */
const WORKERS = 2
const BATCH = 4

/** Starts the workers that erase candidates and members. They end with `boss.stop()`. */
export async function startErasureWorkers(boss: PgBoss, system: ServiceContext): Promise<void> {
  const options = {
    ...BATCH_OPTIONS,
    batchSize: BATCH,
    localConcurrency: WORKERS,
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
  }
  const erase = (job: Job<ErasureJob>): Promise<JobResult> => {
    const failing = { log: system.deps.log, message: 'an erasure could not be continued yet' } as const
    return toJobResult(
      job.id,
      runJob(ERASURES, job, () => continueErasure(system, job.data), failing),
    )
  }
  await boss.work<ErasureJob>(ERASURES, options, async (jobs) => {
    // Erasures of one organization update the same counters and would block each other.
    const byOrganization = [...Map.groupBy(jobs, ({ data }) => data.organizationId).values()]
    const eraseInTurn = async (jobsOfOrganization: Job<ErasureJob>[]) => {
      const results: JobResult[] = []
      for (const job of jobsOfOrganization) results.push(await erase(job))
      return results
    }
    return (await Promise.all(byOrganization.map(eraseInTurn))).flat()
  })
}
