import { fromPrisma, PgBoss } from 'pg-boss'
import type { Log, Queue } from '../domain/context.ts'

export const INVITATION_EMAILS = 'invitation-email'
/** Where jobs go whose retries are used up. */
export const DEAD_INVITATION_EMAILS = 'invitation-email-dead'

export type InvitationEmailJob = { emailId: string }

/** pg-boss deletes unprocessed jobs after 14 days unless told otherwise: an accepted invite's mail is never to be deleted. */
const KEPT_FOR_SECONDS = 10 * 365 * 86_400

/** About a day of retries: 10 s, doubling up to an hour. */
const RETRIES = { retryLimit: 33, retryDelay: 10, retryBackoff: true, retryDelayMax: 3_600 }
/** Without a heartbeat for 10 s a job counts as lost: what a killed process was sending is retried within 45 s, all told. */
const LIVENESS = { heartbeatSeconds: 10, expireInSeconds: 120 }
const SUPERVISION = { superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 }

/**
 * A started pg-boss with the service's queues. Stop it with `boss.stop()`.
 *
 * @param works false for a process that only adds jobs: it does none of the queue's housekeeping.
 * @param migrates false for a process that changes nothing in a database that has no queue, or one of another release.
 * @throws Error when the database has no such queue, unless `migrates`.
 */
export async function startQueue(
  url: string,
  log: Log,
  { works, migrates = true }: { works: boolean; migrates?: boolean },
): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: url,
    max: 4,
    useListenNotify: works,
    supervise: works,
    schedule: works,
    migrate: migrates,
    ...SUPERVISION,
  })
  // Without a listener an error event would end the process; pg-boss goes on by itself when the database is back.
  boss.on('error', (error) => log.error({ err: error }, 'job queue'))
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue'))
  await boss.start().catch(async (cause) => {
    await boss.stop()
    throw migrates ? cause : new Error('The queue is not up to date. Run: npm run cli -- migrate', { cause })
  })
  const kept = { retentionSeconds: KEPT_FOR_SECONDS, deleteAfterSeconds: 86_400, notify: true }
  await declareQueue(boss, DEAD_INVITATION_EMAILS, { ...kept, retryLimit: 10, retryDelay: 5, retryBackoff: true })
  await declareQueue(boss, INVITATION_EMAILS, { ...kept, ...RETRIES, ...LIVENESS, deadLetter: DEAD_INVITATION_EMAILS })
  return boss
}

/** What the domain sees of it. */
export const asDomainQueue = (boss: PgBoss): Queue => ({
  async enqueueInvitationEmails(tx, emailIds) {
    const jobs = emailIds.map((emailId) => ({ data: { emailId } satisfies InvitationEmailJob }))
    await boss.insert(INVITATION_EMAILS, jobs, { db: fromPrisma(tx) })
  },
})

/** Makes the queue, or brings the options of an older release's queue up to date. */
async function declareQueue(boss: PgBoss, name: string, options: Parameters<PgBoss['createQueue']>[1]): Promise<void> {
  await boss.createQueue(name, options)
  await boss.updateQueue(name, options)
}
