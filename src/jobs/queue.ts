import { setTimeout as sleep } from 'node:timers/promises'
import { fromPrisma, PgBoss } from 'pg-boss'
import type { Connection, Log, Queue } from '../domain/context.ts'
import type { JoinRef } from '../domain/submissions/media/joinable.ts'
import { traced } from './within-job.ts'

export const INVITATION_EMAILS = 'invitation-email'
/** Where jobs go whose retries are used up. */
export const DEAD_INVITATION_EMAILS = 'invitation-email-dead'

export const MEMBER_EMAILS = 'member-email'
/** Where jobs of mails to members go whose retries are used up. */
export const DEAD_MEMBER_EMAILS = 'member-email-dead'
/** Wishes for a new password, not yet looked into. */
export const PASSWORD_RESETS = 'password-reset'

/** Wrong passwords, not yet recorded. */
export const FAILED_SIGN_INS = 'failed-sign-in'

/** What was told of mails, to be read. */
export const MAIL_EVENTS = 'mail-event'

/** Lists of candidates to be invited. */
export const INVITE_BATCHES = 'invite-batch'

/** Invites to be changed in bulk. */
export const BULK_CHANGES = 'bulk-change'

/** Files of questions to be taken into the library. */
export const LIBRARY_IMPORTS = 'library-import'

/** Keys that were corrected, by which what was handed in is to be scored. */
export const KEY_CORRECTIONS = 'answer-key-correction'

/** Test data to be deleted. */
export const TEST_DATA = 'test-data'

/** Candidates to be erased. */
export const ERASURES = 'erasure'

/** Organizations on hold, whose owners are to be reminded, or that are to be erased. */
export const SUSPENSIONS = 'organization-suspension'
/** What is held about somebody, to be made one file. */
export const ARCHIVES = 'archive'

/** Recordings to be made one file. */
export const RECORDINGS = 'recording'
export const DEAD_RECORDINGS = 'recording-dead'

/** Priorities of 32 bits count the seconds since then, and last as many years. */
const PRIORITIES_SINCE = Date.UTC(2026, 0)

/** Of mails that come by themselves: all others have 0, and go first. */
const PATIENT = -1

export type EmailJob = { organizationId: string; emailId: string }
/** The address that was typed in. */
export type AddressJob = { email: string }
export type MailEventJob = { id: string }
export type InviteBatchJob = { organizationId: string; batchId: string }
export type BulkChangeJob = { organizationId: string; bulkChangeId: string }
export type LibraryImportJob = { organizationId: string; importId: string }
export type AnswerKeyCorrectionJob = { organizationId: string; versionId: string; number: number }
/** @property until an ISO time. */
export type TestDataJob = { organizationId: string; until: string }
export type ErasureJob = { organizationId: string; erasureId: string }
/** It does not name the organization: it outlives it. */
export type SuspensionJob = { suspensionId: string }
export type ArchiveJob = { organizationId: string; archiveId: string }
export type RecordingJob = JoinRef

/** pg-boss deletes unprocessed jobs after 14 days unless told otherwise: an accepted invite's mail is never to be deleted. */
const KEPT_FOR_SECONDS = 10 * 365 * 86_400

/**
 * About a day: 33 retries, after 10 s, doubling up to an hour; pg-boss adds up to as much again at random. Whether an attempt is retried is
 * decided by mail/verdict.ts, by what the mail server says of this mail; what then happens, by attempt-mail.ts. What it says of all mails uses up
 * no retries: these wait in the line, see line.ts.
 */
const RETRIES = { retryLimit: 33, retryDelay: 10, retryBackoff: true, retryDelayMax: 3_600 }
/**
 * Every 2 s a process confirms the jobs it holds, however long they take. A job that nobody has confirmed for 10 s is lost, and retried:
 * what a killed process was sending goes out within 45 s, all told. The limit on a job's duration is as long as pg-boss allows: a job that
 * is taken from a process that lives is done twice.
 */
export const LIVENESS = { heartbeatSeconds: 10, expireInSeconds: 86_400 }
export const HEARTBEAT_REFRESH_SECONDS = 2
/**
 * Queues whose jobs continue from what is recorded and are safe to do twice. A job that a killed process had goes on in another after three
 * missed heartbeats, without the pause before a retry: the job has not failed. One that was lost many times may be what ends the process; it
 * waits as a failed one does.
 */
const RESUMABLE_QUEUES = [INVITE_BATCHES, BULK_CHANGES, LIBRARY_IMPORTS, KEY_CORRECTIONS, TEST_DATA, ERASURES]
const LOST_AFTER_SECONDS = 3 * HEARTBEAT_REFRESH_SECONDS
const MAX_RESUMED = 10
/**
 * Milliseconds. A connection that has gone silent, as after a failover, is given up: each that waits for ever is one less of four, and
 * with the last of them the sending of mails stops.
 */
const CONNECTIONS = { keepAlive: true, query_timeout: 30_000 }
/** At most so often lost jobs are looked for, by whichever process it is. */
const MONITOR_INTERVAL_SECONDS = 5
/** For so long the database has to have answered before. */
const STEADY_MS = 10_000
const PULSE_MS = 2_000
const LATE_PULSE_MS = 5_000

/**
 * A started pg-boss with the service's queues. Stop it with `boss.stop()`.
 *
 * @param works false for a process that only adds jobs: it does none of the queue's housekeeping.
 * @param options of its sessions, as PostgreSQL takes them; none behind a pooler in transaction mode, which only those can use that don't work.
 * @param migrates false for a process that changes nothing in a database that has no queue, or one of another release.
 * @throws Error when the database has no such queue, unless `migrates`.
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
  // Without a listener an error event would end the process; pg-boss goes on by itself when the database is back.
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
 * Has pg-boss look for lost jobs every 10 s, provided that the database has answered this process all that time. By itself pg-boss may look
 * in the moment the database is back from an outage, when no heartbeat is younger than the outage, and then gives mails that a living
 * process is sending, or has sent and could not record, to another. This way each process first has several tries to confirm its jobs and
 * to record what became of them: however often the database falls, only what a dead process was sending is sent again. A lease on the
 * mail's own row would need the same patience, and one more write for each batch.
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
    // An answer that is late was held up by the database, or this process was paused, and maybe the others with it.
    const uninterrupted = now !== null && now - answeredAt < LATE_PULSE_MS
    answeredAt = now ?? -Infinity
    if (uninterrupted) await resumeLost(boss).catch((error) => log.error({ err: error }, 'job queue'))
    if (!uninterrupted) steadySince = answeredAt
    if (now === null || now - steadySince < STEADY_MS) continue
    steadySince = now
    await boss.supervise().catch((error) => log.error({ err: error }, 'job queue'))
  }
}

/** The database's clock, which heartbeats are judged by too, in milliseconds; null when it does not answer, which others report. */
const readTime = (boss: PgBoss): Promise<number | null> =>
  boss
    .getDb()
    .executeSql('SELECT now() AS now')
    .then(
      ({ rows }) => rows[0].now.getTime(),
      () => null,
    )

/** By the index of active jobs that have a group, which those of all these queues have. */
async function resumeLost(boss: PgBoss): Promise<void> {
  await boss.getDb().executeSql(
    `UPDATE pgboss.job SET state = 'retry', start_after = now(), heartbeat_on = NULL
     WHERE name = ANY ($1) AND state = 'active' AND group_id IS NOT NULL AND heartbeat_on < now() - $2 * interval '1 second' AND retry_count < $3`,
    [RESUMABLE_QUEUES, LOST_AFTER_SECONDS, MAX_RESUMED],
  )
}

/** Those that wait for their next try, and that wait for another day. */
const BRING_FORWARD = `
  UPDATE pgboss.job SET start_after = now()
  WHERE name = ANY ($1) AND state IN ('retry', 'created') AND start_after > now() AND ($2::text IS NULL OR data->>'emailId' = $2)
    AND (state = 'retry' OR $2 IS NOT NULL)
  RETURNING id`

async function bringMailForward(boss: PgBoss, emailId?: string): Promise<number> {
  const { rows } = await boss.getDb().executeSql(BRING_FORWARD, [[INVITATION_EMAILS, MEMBER_EMAILS], emailId ?? null])
  return rows.length
}

async function bringDelayedMailForward(db: Connection, organizationId: string): Promise<void> {
  await fromPrisma(db).executeSql(
    `UPDATE pgboss.job SET start_after = now()
     WHERE name = $1 AND group_id = $2 AND state = 'created' AND start_after > now()`,
    [INVITATION_EMAILS, organizationId],
  )
}

const IS_UNDER_WAY = "state = 'active' AND heartbeat_on > now() - heartbeat_seconds * interval '1 second'"
/** Of mails; those under way are left to end by themselves, unless the process that had them is gone, as after a restore. */
const FORGET_MAILS = `
  WITH its AS (
      SELECT id, name, ${IS_UNDER_WAY} AS is_under_way
      FROM pgboss.job WHERE name = ANY ($1) AND data->>'emailId' = ANY ($2)),
    gone AS (DELETE FROM pgboss.job USING its WHERE job.name = its.name AND job.id = its.id AND its.is_under_way IS NOT TRUE)
  SELECT count(*)::int AS "underWay" FROM its WHERE is_under_way`
/** What was said of any job, and of the one that a dead one was made of. */
const FORGET_OUTPUTS =
  'UPDATE pgboss.job SET output = NULL, source_output = NULL WHERE output::text ~* $1 OR source_output::text ~* $1'

const MAIL_QUEUES = [INVITATION_EMAILS, DEAD_INVITATION_EMAILS, MEMBER_EMAILS, DEAD_MEMBER_EMAILS]

async function forgetMails(boss: PgBoss, emailIds: readonly string[], pattern: string): Promise<number> {
  const { rows } = await boss.getDb().executeSql(FORGET_MAILS, [MAIL_QUEUES, emailIds])
  await boss.getDb().executeSql(FORGET_OUTPUTS, [pattern])
  return (rows[0] as { underWay: number }).underWay
}

/** As of mails. */
const FORGET_ORGANIZATION = `
  WITH its AS (
      SELECT id, name, ${IS_UNDER_WAY} AS is_under_way FROM pgboss.job WHERE data->>'organizationId' = $1),
    gone AS (DELETE FROM pgboss.job USING its WHERE job.name = its.name AND job.id = its.id AND its.is_under_way IS NOT TRUE)
  SELECT count(*)::int AS "underWay" FROM its WHERE is_under_way`

async function forgetOrganization(boss: PgBoss, organizationId: string): Promise<number> {
  const { rows } = await boss.getDb().executeSql(FORGET_ORGANIZATION, [organizationId])
  return (rows[0] as { underWay: number }).underWay
}

/** Seconds within which repeated presses of "Try again now" queue one job. */
const RETRY_SECONDS = 60

type Retry = { queue: string; id: string; organizationId: string; data: object }

async function enqueueRetry(boss: PgBoss, db: Connection, { queue, id, organizationId, data }: Retry): Promise<void> {
  const once = { singletonKey: id, singletonSeconds: RETRY_SECONDS }
  await boss.send(queue, traced(data), { ...once, group: { id: organizationId }, db: fromPrisma(db) })
}

/** What the domain sees of it. */
export const asDomainQueue = (boss: PgBoss): Queue => {
  const enqueueAddress = (queue: string) => async (db: Connection, email: string) => {
    await boss.insert(queue, [{ data: traced({ email } satisfies AddressJob) }], { db: fromPrisma(db) })
  }
  return {
    async invitationEmailJobs(emails, { isPatient = false } = {}) {
      // pg-boss is given a database that only notes what is asked of it.
      let statement = { text: '', values: [] as unknown[] }
      const note = async (text: string, values: unknown[] = []) => {
        statement = { text, values }
        return { rows: [] }
      }
      const jobs = emails.map(({ id, organizationId, startAfter, jobId }) => ({
        data: traced({ emailId: id, organizationId } satisfies EmailJob),
        group: { id: organizationId },
        ...(isPatient && { priority: PATIENT }),
        ...(startAfter && { startAfter }),
        ...(jobId !== undefined && { id: jobId }),
      }))
      await boss.insert(INVITATION_EMAILS, jobs, { db: { executeSql: note } })
      return statement
    },
    async enqueueMemberEmails(db, emails) {
      const jobs = emails.map(({ id, organizationId }) => ({ data: traced({ emailId: id, organizationId } satisfies EmailJob) }))
      await boss.insert(MEMBER_EMAILS, jobs, { db: fromPrisma(db) })
    },
    async enqueueMailEvent(db, id) {
      await boss.insert(MAIL_EVENTS, [{ data: traced({ id } satisfies MailEventJob) }], { db: fromPrisma(db) })
    },
    async enqueueInviteBatch(db, { id: batchId, organizationId, isRetry = false }) {
      const data: InviteBatchJob = { batchId, organizationId }
      if (isRetry) return enqueueRetry(boss, db, { queue: INVITE_BATCHES, id: batchId, organizationId, data })
      await boss.insert(INVITE_BATCHES, [{ data: traced(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueBulkChange(db, { id: bulkChangeId, organizationId, startAfter, isRetry = false }) {
      const data: BulkChangeJob = { bulkChangeId, organizationId }
      if (isRetry) return enqueueRetry(boss, db, { queue: BULK_CHANGES, id: bulkChangeId, organizationId, data })
      const job = { data: traced(data), group: { id: organizationId }, ...(startAfter && { startAfter }) }
      await boss.insert(BULK_CHANGES, [job], { db: fromPrisma(db) })
    },
    async enqueueLibraryImport(db, { organizationId, importId }) {
      const data: LibraryImportJob = { organizationId, importId }
      await boss.insert(LIBRARY_IMPORTS, [{ data, group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueAnswerKeyCorrection(db, { organizationId, versionId, number }) {
      const data: AnswerKeyCorrectionJob = { organizationId, versionId, number }
      await boss.insert(KEY_CORRECTIONS, [{ data: traced(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueTestDataDeletion(db, { organizationId, until }) {
      const data: TestDataJob = { organizationId, until: until.toISOString() }
      await boss.insert(TEST_DATA, [{ data: traced(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    async enqueueErasure(db, { organizationId, erasureId, ahead }) {
      const data: ErasureJob = { organizationId, erasureId }
      const job = { data: traced(data), priority: -ahead, group: { id: organizationId } }
      await boss.insert(ERASURES, [job], { db: fromPrisma(db) })
    },
    async enqueueSuspension(db, { suspensionId, at: startAfter }) {
      const data: SuspensionJob = { suspensionId }
      await boss.insert(SUSPENSIONS, [{ data: traced(data), startAfter }], { db: fromPrisma(db) })
    },
    forgetOrganization: (organizationId) => forgetOrganization(boss, organizationId),
    async enqueueArchive(db, { organizationId, archiveId }) {
      const data: ArchiveJob = { organizationId, archiveId }
      await boss.insert(ARCHIVES, [{ data: traced(data), group: { id: organizationId } }], { db: fromPrisma(db) })
    },
    forgetMails: (emailIds, pattern) => forgetMails(boss, emailIds, pattern),
    async enqueueRecording(db, { mediaId, organizationId, assetOf, key, dueAt }) {
      const priority = -Math.round((dueAt.getTime() - PRIORITIES_SINCE) / 1_000)
      const data: RecordingJob = { mediaId, organizationId, assetOf, key }
      const job = { data: traced(data), priority, group: { id: organizationId } }
      await boss.insert(RECORDINGS, [job], { db: fromPrisma(db) })
    },
    bringDelayedMailForward,
    bringMailForward: (emailId) => bringMailForward(boss, emailId),
    enqueuePasswordReset: enqueueAddress(PASSWORD_RESETS),
    enqueueFailedSignIn: enqueueAddress(FAILED_SIGN_INS),
  }
}

/** What the dead-letter queues hold is short work, but lost like any other when its process is killed. */
async function declareQueues(boss: PgBoss): Promise<void> {
  const kept = { retentionSeconds: KEPT_FOR_SECONDS, deleteAfterSeconds: 86_400, notify: true }
  const dead = { ...kept, ...LIVENESS, retryLimit: 10, retryDelay: 5, retryBackoff: true }
  for (const [queue, deadLetter] of [
    [INVITATION_EMAILS, DEAD_INVITATION_EMAILS],
    [MEMBER_EMAILS, DEAD_MEMBER_EMAILS],
    [RECORDINGS, DEAD_RECORDINGS],
  ] as const) {
    await declareQueue(boss, deadLetter, dead)
    await declareQueue(boss, queue, { ...kept, ...RETRIES, ...LIVENESS, deadLetter })
  }
  for (const queue of [MAIL_EVENTS, INVITE_BATCHES, BULK_CHANGES, LIBRARY_IMPORTS, TEST_DATA, ARCHIVES])
    await declareQueue(boss, queue, { ...kept, ...RETRIES, ...LIVENESS })
  // It goes on for as long as what is in its way: a store that is away for days, a disk that is full.
  for (const queue of [ERASURES, SUSPENSIONS])
    await declareQueue(boss, queue, { ...kept, ...RETRIES, ...LIVENESS, retryLimit: 10_000 })
  // Somebody waits for it: what a killed process had is taken up at once.
  await declareQueue(boss, KEY_CORRECTIONS, { ...kept, ...RETRIES, ...LIVENESS, retryDelay: 1 })
  // The address that was typed in is not kept for longer than it is needed.
  for (const queue of [PASSWORD_RESETS, FAILED_SIGN_INS]) await declareQueue(boss, queue, { ...dead, deleteAfterSeconds: 60 })
}

/** Makes the queue, or brings the options of an older release's queue up to date. */
async function declareQueue(boss: PgBoss, name: string, options: Parameters<PgBoss['createQueue']>[1]): Promise<void> {
  await boss.createQueue(name, options)
  await boss.updateQueue(name, options)
}
