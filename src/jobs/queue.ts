import { setTimeout as sleep } from 'node:timers/promises'
import { fromPrisma, PgBoss } from 'pg-boss'
import type { Connection } from '../domain/context.ts'
import type { Log } from '../domain/ports/log-events.ts'
import type { Queue } from '../domain/ports/queue.ts'
import type { JoinRef } from '../domain/submissions/media/joinable.ts'
import { withTrace } from './run-job.ts'

export const INVITATION_EMAILS = 'invitation-email'
/** Receives jobs without retries left, as all DEAD_ queues do. */
export const DEAD_INVITATION_EMAILS = 'invitation-email-dead'

export const MEMBER_EMAILS = 'member-email'
export const DEAD_MEMBER_EMAILS = 'member-email-dead'
export const REGISTRATION_EMAILS = 'registration-email'
export const DEAD_REGISTRATION_EMAILS = 'registration-email-dead'

/** Waiting registrations of an organization. */
export const REGISTRATIONS = 'registration'

export const PASSWORD_RESETS = 'password-reset'

export const FAILED_SIGN_INS = 'failed-sign-in'

/** Bounces and delivery reports received from mail providers. */
export const MAIL_EVENTS = 'mail-event'

export const INVITE_BATCHES = 'invite-batch'

export const BULK_CHANGES = 'bulk-change'

export const LIBRARY_IMPORTS = 'library-import'

/** Rescoring of submitted answers after their answer key was corrected. */
export const KEY_CORRECTIONS = 'answer-key-correction'

export const TEST_DATA = 'test-data'

export const ERASURES = 'erasure'

/** Suspended organizations: reminds the owners, then erases. */
export const SUSPENSIONS = 'organization-suspension'
export const ARCHIVES = 'archive'

export const RECORDINGS = 'recording'
export const DEAD_RECORDINGS = 'recording-dead'

export const TRANSCRIPTS = 'transcript'

/** Priorities are 32-bit seconds since then, which last for 68 years. */
const PRIORITIES_SINCE = Date.UTC(2026, 0)

/** Earlier due jobs have a higher priority. */
const toPriority = (dueAt: Date): number => -Math.round((dueAt.getTime() - PRIORITIES_SINCE) / 1_000)

/** Priority of automatic mails; all others have 0 and go first. */
const LOW_PRIORITY = -1

export type EmailJob = { organizationId: string; emailId: string }
/** `email` is the address as typed. */
export type AddressJob = { email: string }
export type RegistrationsJob = { organizationId: string }
export type MailEventJob = { id: string }
export type InviteBatchJob = { organizationId: string; batchId: string }
export type BulkChangeJob = { organizationId: string; bulkChangeId: string }
export type LibraryImportJob = { organizationId: string; importId: string }
export type AnswerKeyCorrectionJob = { organizationId: string; versionId: string; number: number }
/** @property until an ISO time. */
export type TestDataJob = { organizationId: string; until: string }
export type ErasureJob = { organizationId: string; erasureId: string }
/** Without the organization's id, because the job outlives the organization. */
export type SuspensionJob = { suspensionId: string }
export type ArchiveJob = { organizationId: string; archiveId: string }
export type RecordingJob = JoinRef
export type TranscriptJob = { mediaId: string; organizationId: string; isPrompt?: boolean }

/** pg-boss deletes unprocessed jobs after 14 days by default. Mails that were accepted must never be deleted. */
const RETENTION_SECONDS = 10 * 365 * 86_400

/**
 * 33 retries over about a day: the first after 10 s, doubling up to an hour; pg-boss adds random jitter of up to the same. mail/verdict.ts
 * decides whether an attempt is retried, attempt-mail.ts acts on it. An outage of the mail server uses up no retries: mails wait in the
 * dispatcher (see mail-dispatcher.ts).
 */
const RETRIES = { retryLimit: 33, retryDelay: 10, retryBackoff: true, retryDelayMax: 3_600 }
/**
 * A process refreshes the heartbeat of its jobs every 2 s. A job without a heartbeat for 10 s is lost and retried, so the mails of a killed
 * process leave within 45 s. The duration limit is the longest that pg-boss allows: expiring the job of a living process would run it twice.
 */
export const LIVENESS = { heartbeatSeconds: 10, expireInSeconds: 86_400 }
export const HEARTBEAT_REFRESH_SECONDS = 2
/**
 * Queues whose jobs resume from recorded progress and may run twice. After three missed heartbeats another process resumes such a job, without
 * the pause of a retry. A job lost more than MAX_RESUMED times may itself crash the process, and waits like a failed one.
 */
const RESUMABLE_QUEUES = [INVITE_BATCHES, BULK_CHANGES, LIBRARY_IMPORTS, KEY_CORRECTIONS, TEST_DATA, ERASURES, TRANSCRIPTS]
const LOST_AFTER_SECONDS = 3 * HEARTBEAT_REFRESH_SECONDS
const MAX_RESUMED = 10
/** Drops connections that went silent, e.g. after a failover (milliseconds). There are four: if all of them hang, no mails leave. */
const CONNECTIONS = { keepAlive: true, query_timeout: 30_000 }
/** Lost jobs are looked for at most this often, by all processes together. */
const MONITOR_INTERVAL_SECONDS = 5
/** Milliseconds for which the database has to answer without interruption before lost jobs are looked for. */
const STEADY_MS = 10_000
const PULSE_MS = 2_000
const LATE_PULSE_MS = 5_000

/**
 * Starts pg-boss with the service's queues. Stop it with `boss.stop()`.
 *
 * @param works false for a process that only adds jobs, and does no maintenance.
 * @param options PostgreSQL session options; undefined behind a pooler in transaction mode, which only processes with `works: false` can use.
 * @param migrates false to leave the database's queue schema unchanged.
 * @throws Error if the queue schema is missing or outdated and `migrates` is false.
 */
export async function startQueue(
  url: string,
  log: Log,
  { works, migrates = true, options }: { works: boolean; migrates?: boolean; options?: string | undefined },
): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: url,
    max: 4,
    ...CONNECTIONS,
    ...(options !== undefined && { options }),
    useListenNotify: works,
    supervise: false,
    monitorIntervalSeconds: MONITOR_INTERVAL_SECONDS,
    schedule: works,
    migrate: migrates,
  })
  // Without a listener an error event would end the process. pg-boss recovers by itself when the database is back.
  boss.on('error', (error) => log.error({ err: error }, 'job queue'))
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue'))
  try {
    await boss.start().catch((cause) => {
      throw migrates ? cause : new Error('The queue is not up to date. Run: npm run cli -- migrate', { cause })
    })
    if (migrates) await declareQueues(boss)
  } catch (error) {
    await boss.stop()
    throw error
  }
  if (works) superviseWhenSteady(boss, log)
  return boss
}

/**
 * Looks for lost jobs every 10 s, but only after the database has answered this process all that time. pg-boss by itself may look at the very
 * end of a database outage, when every heartbeat is too old, and would hand mails that a living process is sending to another one. Waiting
 * gives each process several tries to refresh its heartbeats and record its outcomes, so only the mails of dead processes are sent again. A
 * lease on the mail's own row would need the same wait and one more write per batch.
 */
async function superviseWhenSteady(boss: PgBoss, log: Log): Promise<void> {
  let stopped = false
  boss.once('stopped', () => {
    stopped = true
  })
  let steadySince = -Infinity
  let answeredAt = -Infinity
  while (!stopped) {
    await sleep(PULSE_MS, undefined, { ref: false })
    const now = await readTime(boss)
    // A late answer means that the database or this process was paused, and maybe other processes too.
    const uninterrupted = now !== null && now - answeredAt < LATE_PULSE_MS
    answeredAt = now ?? -Infinity
    if (uninterrupted) await resumeLost(boss).catch((error) => log.error({ err: error }, 'job queue'))
    if (!uninterrupted) steadySince = answeredAt
    if (now === null || now - steadySince < STEADY_MS) continue
    steadySince = now
    await boss.supervise().catch((error) => log.error({ err: error }, 'job queue'))
  }
}

/** The database's clock in milliseconds, which heartbeats are compared with; null if it doesn't answer. Others report that. */
const readTime = (boss: PgBoss): Promise<number | null> =>
  boss
    .getDb()
    .executeSql('SELECT now() AS now')
    .then(
      ({ rows }) => rows[0].now.getTime(),
      () => null,
    )

/** Uses the index of active jobs that have a group, as the jobs of all these queues do. */
async function resumeLost(boss: PgBoss): Promise<void> {
  await boss.getDb().executeSql(
    `UPDATE pgboss.job SET state = 'retry', start_after = now(), heartbeat_on = NULL
     WHERE name = ANY ($1) AND state = 'active' AND group_id IS NOT NULL AND heartbeat_on < now() - $2 * interval '1 second' AND retry_count < $3`,
    [RESUMABLE_QUEUES, LOST_AFTER_SECONDS, MAX_RESUMED],
  )
}

/** Includes mails that wait for a retry, and, for one mail, those scheduled for later. */
const BRING_FORWARD = `
  UPDATE pgboss.job SET start_after = now()
  WHERE name = ANY ($1) AND state IN ('retry', 'created') AND start_after > now() AND ($2::text IS NULL OR data->>'emailId' = $2)
    AND (state = 'retry' OR $2 IS NOT NULL)
  RETURNING id`

async function retryMailNow(boss: PgBoss, emailId?: string): Promise<number> {
  const { rows } = await boss
    .getDb()
    .executeSql(BRING_FORWARD, [[INVITATION_EMAILS, MEMBER_EMAILS, REGISTRATION_EMAILS], emailId ?? null])
  return rows.length
}

async function retryDelayedMailNow(db: Connection, organizationId: string): Promise<void> {
  await fromPrisma(db).executeSql(
    `UPDATE pgboss.job SET start_after = now()
     WHERE name = $1 AND group_id = $2 AND state = 'created' AND start_after > now()`,
    [INVITATION_EMAILS, organizationId],
  )
}

const IS_IN_PROGRESS = "state = 'active' AND heartbeat_on > now() - heartbeat_seconds * interval '1 second'"
/** Jobs in progress are left to finish, unless their process is gone, as after a restore. */
const PURGE_MAILS = `
  WITH its AS (
      SELECT id, name, ${IS_IN_PROGRESS} AS is_under_way
      FROM pgboss.job WHERE name = ANY ($1) AND data->>'emailId' = ANY ($2)),
    gone AS (DELETE FROM pgboss.job USING its WHERE job.name = its.name AND job.id = its.id AND its.is_under_way IS NOT TRUE)
  SELECT count(*)::int AS "underWay" FROM its WHERE is_under_way`
/** Dead-letter jobs also carry the output of the job that they replace. */
const PURGE_OUTPUTS =
  'UPDATE pgboss.job SET output = NULL, source_output = NULL WHERE output::text ~* $1 OR source_output::text ~* $1'

const MAIL_QUEUES = [
  INVITATION_EMAILS,
  DEAD_INVITATION_EMAILS,
  MEMBER_EMAILS,
  DEAD_MEMBER_EMAILS,
  REGISTRATION_EMAILS,
  DEAD_REGISTRATION_EMAILS,
]

async function purgeMails(boss: PgBoss, emailIds: readonly string[], pattern: string): Promise<number> {
  const { rows } = await boss.getDb().executeSql(PURGE_MAILS, [MAIL_QUEUES, emailIds])
  await boss.getDb().executeSql(PURGE_OUTPUTS, [pattern])
  return (rows[0] as { underWay: number }).underWay
}

/** Treats jobs in progress like FORGET_MAILS. */
const PURGE_ORGANIZATION = `
  WITH its AS (
      SELECT id, name, ${IS_IN_PROGRESS} AS is_under_way FROM pgboss.job WHERE data->>'organizationId' = $1),
    gone AS (DELETE FROM pgboss.job USING its WHERE job.name = its.name AND job.id = its.id AND its.is_under_way IS NOT TRUE)
  SELECT count(*)::int AS "underWay" FROM its WHERE is_under_way`

async function purgeOrganization(boss: PgBoss, organizationId: string): Promise<number> {
  const { rows } = await boss.getDb().executeSql(PURGE_ORGANIZATION, [organizationId])
  return (rows[0] as { underWay: number }).underWay
}

/** Repeated clicks on "Try again now" within this time queue one job. */
const RETRY_DEBOUNCE_SECONDS = 60

type RetryJob = { queue: string; id: string; organizationId: string; data: object }

async function enqueueRetry(boss: PgBoss, db: Connection, { queue, id, organizationId, data }: RetryJob): Promise<void> {
  const once = { singletonKey: id, singletonSeconds: RETRY_DEBOUNCE_SECONDS }
  await boss.send(queue, withTrace(data), { ...once, group: { id: organizationId }, db: fromPrisma(db) })
}

/** Adapts pg-boss to the domain's queue. */
export const createDomainQueue = (boss: PgBoss): Queue => {
  const enqueueAddress = (queue: string) => async (db: Connection, email: string) => {
    await boss.insert(queue, [{ data: withTrace({ email } satisfies AddressJob) }], { db: fromPrisma(db) })
  }
  return {
    async invitationEmailJobs(emails, { isPatient = false } = {}) {
      // pg-boss gets a fake database that only records the statement.
      let statement = { text: '', values: [] as unknown[] }
      const captureStatement = async (text: string, values: unknown[] = []) => {
        statement = { text, values }
        return { rows: [] }
      }
      const jobs = emails.map(({ id, organizationId, startAfter, jobId }) => ({
        data: withTrace({ emailId: id, organizationId } satisfies EmailJob),
        group: { id: organizationId },
        ...(isPatient && { priority: LOW_PRIORITY }),
        ...(startAfter && { startAfter }),
        ...(jobId !== undefined && { id: jobId }),
      }))
      await boss.insert(INVITATION_EMAILS, jobs, { db: { executeSql: captureStatement } })
      return statement
    },
    async enqueueMemberEmails(db, emails) {
      const jobs = emails.map(({ id, organizationId }) => ({
        data: withTrace({ emailId: id, organizationId } satisfies EmailJob),
      }))
      await boss.insert(MEMBER_EMAILS, jobs, { db: fromPrisma(db) })
    },
    async enqueueRegistrationEmails(db, registrations) {
      const jobs = registrations.map(({ id, organizationId }) => ({
        data: withTrace({ emailId: id, organizationId } satisfies EmailJob),
        group: { id: organizationId },
      }))
      await boss.insert(REGISTRATION_EMAILS, jobs, { db: fromPrisma(db) })
    },
    async enqueueRegistrations(db, organizationId) {
      const data: RegistrationsJob = { organizationId }
      await boss.insert(REGISTRATIONS, [{ data, singletonKey: organizationId, group: { id: organizationId } }], {
        db: fromPrisma(db),
      })
    },
    async enqueueMailEvent(db, id) {
      await boss.insert(MAIL_EVENTS, [{ data: withTrace({ id } satisfies MailEventJob) }], { db: fromPrisma(db) })
    },
    async enqueueInviteBatch(db, { id: batchId, organizationId, isRetry = false }) {
      const data: InviteBatchJob = { batchId, organizationId }
      if (isRetry) return enqueueRetry(boss, db, { queue: INVITE_BATCHES, id: batchId, organizationId, data })
      await boss.insert(INVITE_BATCHES, [{ data: withTrace(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueBulkChange(db, { id: bulkChangeId, organizationId, startAfter, isRetry = false }) {
      const data: BulkChangeJob = { bulkChangeId, organizationId }
      if (isRetry) return enqueueRetry(boss, db, { queue: BULK_CHANGES, id: bulkChangeId, organizationId, data })
      const job = { data: withTrace(data), group: { id: organizationId }, ...(startAfter && { startAfter }) }
      await boss.insert(BULK_CHANGES, [job], { db: fromPrisma(db) })
    },
    async enqueueLibraryImport(db, { organizationId, importId }) {
      const data: LibraryImportJob = { organizationId, importId }
      await boss.insert(LIBRARY_IMPORTS, [{ data, group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueAnswerKeyCorrection(db, { organizationId, versionId, number }) {
      const data: AnswerKeyCorrectionJob = { organizationId, versionId, number }
      await boss.insert(KEY_CORRECTIONS, [{ data: withTrace(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueTestDataDeletion(db, { organizationId, until }) {
      const data: TestDataJob = { organizationId, until: until.toISOString() }
      await boss.insert(TEST_DATA, [{ data: withTrace(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueErasure(db, { organizationId, erasureId, ahead }) {
      const data: ErasureJob = { organizationId, erasureId }
      const job = { data: withTrace(data), priority: -ahead, group: { id: organizationId } }
      await boss.insert(ERASURES, [job], { db: fromPrisma(db) })
    },
    async enqueueSuspension(db, { suspensionId, at: startAfter }) {
      const data: SuspensionJob = { suspensionId }
      await boss.insert(SUSPENSIONS, [{ data: withTrace(data), startAfter }], { db: fromPrisma(db) })
    },
    purgeOrganization: (organizationId) => purgeOrganization(boss, organizationId),
    async enqueueArchive(db, { organizationId, archiveId }) {
      const data: ArchiveJob = { organizationId, archiveId }
      await boss.insert(ARCHIVES, [{ data: withTrace(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    purgeMails: (emailIds, pattern) => purgeMails(boss, emailIds, pattern),
    async enqueueRecording(db, { mediaId, organizationId, assetOf, key, dueAt }) {
      const data: RecordingJob = { mediaId, organizationId, assetOf, key }
      const job = { data: withTrace(data), priority: toPriority(dueAt), group: { id: organizationId } }
      await boss.insert(RECORDINGS, [job], { db: fromPrisma(db) })
    },
    async enqueueTranscript(db, { mediaId, organizationId, dueAt, isPrompt }) {
      const data: TranscriptJob = { mediaId, organizationId, ...(isPrompt && { isPrompt }) }
      const job = { data: withTrace(data), priority: toPriority(dueAt), group: { id: organizationId } }
      await boss.insert(TRANSCRIPTS, [job], { db: fromPrisma(db) })
    },
    bringDelayedMailForward: retryDelayedMailNow,
    bringMailForward: (emailId) => retryMailNow(boss, emailId),
    enqueuePasswordReset: enqueueAddress(PASSWORD_RESETS),
    enqueueFailedSignIn: enqueueAddress(FAILED_SIGN_INS),
  }
}

/** Dead-letter jobs are short, but need heartbeats too: their process may be killed. */
async function declareQueues(boss: PgBoss): Promise<void> {
  const retention = { retentionSeconds: RETENTION_SECONDS, deleteAfterSeconds: 86_400, notify: true }
  const dead = { ...retention, ...LIVENESS, retryLimit: 10, retryDelay: 5, retryBackoff: true }
  for (const [queue, deadLetter] of [
    [INVITATION_EMAILS, DEAD_INVITATION_EMAILS],
    [MEMBER_EMAILS, DEAD_MEMBER_EMAILS],
    [REGISTRATION_EMAILS, DEAD_REGISTRATION_EMAILS],
    [RECORDINGS, DEAD_RECORDINGS],
  ] as const) {
    await declareQueue(boss, deadLetter, dead)
    await declareQueue(boss, queue, { ...retention, ...RETRIES, ...LIVENESS, deadLetter })
  }
  for (const queue of [MAIL_EVENTS, INVITE_BATCHES, BULK_CHANGES, LIBRARY_IMPORTS, TEST_DATA, ARCHIVES])
    await declareQueue(boss, queue, { ...retention, ...RETRIES, ...LIVENESS })
  // Retried until the obstacle is gone: a store or a speech recognition service that is away for days, a full disk.
  for (const queue of [ERASURES, SUSPENSIONS, TRANSCRIPTS])
    await declareQueue(boss, queue, { ...retention, ...RETRIES, ...LIVENESS, retryLimit: 10_000 })
  // One job for all registrations that come until it runs. What it misses, the sweep finds.
  await boss.createQueue(REGISTRATIONS, { ...retention, ...RETRIES, ...LIVENESS, deleteAfterSeconds: 60, policy: 'short' })
  // Somebody waits for this, so a killed process's job is retried after one second.
  await declareQueue(boss, KEY_CORRECTIONS, { ...retention, ...RETRIES, ...LIVENESS, retryDelay: 1 })
  // Typed addresses are deleted soon after use.
  for (const queue of [PASSWORD_RESETS, FAILED_SIGN_INS]) await declareQueue(boss, queue, { ...dead, deleteAfterSeconds: 60 })
}

/** Creates the queue, or updates the options of an existing one. */
async function declareQueue(boss: PgBoss, name: string, options: Parameters<PgBoss['createQueue']>[1]): Promise<void> {
  await boss.createQueue(name, options)
  await boss.updateQueue(name, options)
}
