import type { PgBoss } from 'pg-boss'
import { removeInterruptedDownloads } from '../domain/archives/remove-interrupted-downloads.ts'
import { checkUnusedAssets } from '../domain/assets/check-unused.ts'
import { deleteExpiredReports } from '../domain/ats/calls.ts'
import { deleteExpiredAuditEntries } from '../domain/audit/record-audit.ts'
import { deleteExpiredRows } from '../domain/concurrency/expired-rows.ts'
import { expectSweepParts, recordSweepPart } from '../domain/concurrency/sweep-parts.ts'
import type { ServiceContext } from '../domain/context.ts'
import { eraseDueInvites } from '../domain/erasure/erase-due-invites.ts'
import { eraseOrphanedAccounts } from '../domain/erasure/erase-orphaned-accounts.ts'
import { deleteExpiredEvents } from '../domain/events/delete-expired-events.ts'
import { deleteExpiredImportFiles } from '../domain/imports/import-files.ts'
import { deleteUnfinishedBatches } from '../domain/invites/batches/batches.ts'
import { deleteExpiredEmails } from '../domain/invites/delete-expired-emails.ts'
import { expireAllDueInvites } from '../domain/invites/expire-due-invites.ts'
import { queueReminders } from '../domain/invites/reminders/queue-reminders.ts'
import { deleteExpiredImports } from '../domain/library/delete-expired-imports.ts'
import { queueAllRegistrations } from '../domain/open-links/queue-registrations.ts'
import { SWEEP_PARTS, type SweepPart } from '../domain/ports/metrics.ts'
import { recordRefusalCounts } from '../domain/sign-in/record-refusal.ts'
import { checkSignInDomains } from '../domain/single-sign-on/check-sign-in-domains.ts'
import { assignAnswers } from '../domain/submissions/grading/assign-answers.ts'
import { queueDigests } from '../domain/submissions/grading/queue-digests.ts'
import { deleteExpiredMedia, type KeptDays } from '../domain/submissions/media/delete-expired-media.ts'
import { requeueLostAssets } from '../domain/submissions/media/joinable.ts'
import { removeFiles } from '../domain/submissions/media/remove-files.ts'
import { settleOverdueRecordings } from '../domain/submissions/media/settle-recordings.ts'
import { completeDueSubmissions } from '../domain/submissions/taking/complete-due-submissions.ts'
import { endSubmissionsOfClosedInvites } from '../domain/submissions/taking/end-submissions-of-closed-invites.ts'
import { openMissingSubmissions } from '../domain/submissions/taking/open-missing-submissions.ts'
import { queueTranscripts } from '../domain/submissions/transcripts/queue-transcripts.ts'
import { deleteExpiredDeliveries } from '../domain/webhooks/delete-expired-deliveries.ts'
import { HEARTBEAT_REFRESH_SECONDS, LIVENESS } from './queue.ts'
import { runJob } from './run-job.ts'

/** Name of a part's queue. Its jobs have no data. */
export const sweepQueueName = (part: SweepPart): string => `sweep.${part}`

/** A killed process's job is lost after seconds, and the next minute's replaces it. Missed runs are not made up for. */
const QUEUE_OPTIONS = { ...LIVENESS, retryLimit: 0, retentionSeconds: 3_600, deleteAfterSeconds: 3_600, notify: true }
/** New jobs announce themselves. Polling by every part's worker is expensive, so it is rare and only finds missed notifications. */
const WORKER_OPTIONS = {
  heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
  pollingIntervalSeconds: 10,
  notifyPollingIntervalSeconds: 30,
}

/** `playerUrl` undefined: candidates answer on this service's own pages. */
type SweepSettings = {
  eventsKeptDays: number
  mediaKeptDays: KeptDays
  playerUrl: string | undefined
  /** Fetches bounces from a mailbox; undefined if there is none. */
  fetchBounces: (() => Promise<number>) | undefined
}

const sweepParts: Record<SweepPart, (system: ServiceContext, settings: SweepSettings) => Promise<void>> = {
  async expire_invites(system) {
    const expired = await expireAllDueInvites(system)
    if (expired > 0) system.deps.log.info({ expired }, 'invites expired')
  },
  async queue_reminders(system) {
    const queued = await queueReminders(system)
    if (queued > 0) system.deps.log.info({ queued }, 'reminders queued')
  },
  async queue_digests(system) {
    const queued = await queueDigests(system)
    if (queued > 0) system.deps.log.info({ queued }, 'digests queued')
  },
  async queue_registrations(system) {
    const queued = await queueAllRegistrations(system)
    if (queued > 0) system.deps.log.info({ queued }, 'mails of open links queued')
  },
  async fetch_bounces(system, { fetchBounces }) {
    const fetched = (await fetchBounces?.()) ?? 0
    if (fetched > 0) system.deps.log.info({ fetched }, 'bounces fetched')
  },
  async create_missing_submissions(system, { playerUrl }) {
    const opened = playerUrl === undefined ? await openMissingSubmissions(system) : 0
    if (opened > 0) system.deps.log.info({ opened }, 'missing submissions of started invites created')
  },
  async complete_due_submissions(system) {
    const completed = await completeDueSubmissions(system)
    if (completed > 0) system.deps.log.info({ completed }, 'overdue submissions completed')
    const ended = await endSubmissionsOfClosedInvites(system)
    if (ended > 0) system.deps.log.info({ ended }, 'submissions of closed invites closed')
  },
  async assign_answers(system) {
    const assigned = await assignAnswers(system)
    if (assigned > 0) system.deps.log.info({ assigned }, 'answers assigned to graders')
  },
  delete_expired_idempotency_records: (system) => deleteExpiredRows(system, 'delete_expired_idempotency_records'),
  delete_expired_events: (system, { eventsKeptDays }) => deleteExpiredEvents(system, eventsKeptDays),
  delete_expired_deliveries: (system, { eventsKeptDays }) => deleteExpiredDeliveries(system, eventsKeptDays),
  async delete_expired_ats_reports(system) {
    await deleteExpiredRows(system, 'delete_expired_ats_reports')
    await deleteExpiredReports(system)
  },
  delete_expired_audit_entries: deleteExpiredAuditEntries,
  async delete_expired_batches(system) {
    await deleteExpiredRows(system, 'delete_expired_batches')
    await deleteUnfinishedBatches(system)
    await deleteExpiredImports(system)
    await deleteExpiredImportFiles(system)
  },
  async delete_expired_emails(system) {
    await deleteExpiredEmails(system)
    await deleteExpiredRows(system, 'delete_expired_emails')
  },
  async delete_expired_sign_ins(system) {
    await recordRefusalCounts(system)
    await deleteExpiredRows(system, 'delete_expired_sign_ins')
  },
  delete_expired_registrations: (system) => deleteExpiredRows(system, 'delete_expired_registrations'),
  check_sign_in_domains: checkSignInDomains,
  async complete_abandoned_recordings(system) {
    const settled = await settleOverdueRecordings(system)
    if (settled > 0) system.deps.log.info({ settled }, 'unfinished recordings closed')
  },
  async queue_transcripts(system) {
    const queued = await queueTranscripts(system)
    if (queued > 0) system.deps.log.info({ queued }, 'recordings queued to be transcribed')
  },
  async delete_expired_media(system, { mediaKeptDays }) {
    await deleteExpiredMedia(system, mediaKeptDays)
    await checkUnusedAssets(system)
    await deleteExpiredRows(system, 'delete_expired_media')
    await requeueLostAssets(system)
    await removeInterruptedDownloads(system)
    await removeFiles(system)
  },
  async erase_due_invites(system) {
    const erased = await eraseDueInvites(system)
    if (erased > 0) system.deps.log.info({ erased }, 'invites erased at the end of their retention')
  },
  async erase_orphaned_accounts(system) {
    const erased = await eraseOrphanedAccounts(system)
    if (erased > 0) system.deps.log.info({ erased }, 'orphaned accounts erased')
  },
}

/**
 * Schedules every part each minute, in one of the processes. Parts expire invites and delete expired data. Each part has an exclusive queue: it
 * never runs twice at a time, and a slow part doesn't delay others.
 */
export async function startSweep(boss: PgBoss, system: ServiceContext, settings: SweepSettings): Promise<void> {
  await expectSweepParts(system)
  const start = async (part: SweepPart) => {
    const queue = sweepQueueName(part)
    await boss.createQueue(queue, { ...QUEUE_OPTIONS, policy: 'exclusive' })
    await boss.work<object>(queue, WORKER_OPTIONS, async (jobs) => {
      for (const job of jobs) await runJob(queue, job, () => sweep(system, part, settings))
    })
    await boss.schedule(queue, '* * * * *')
  }
  await Promise.all(SWEEP_PARTS.map(start))
}

/** Runs one part. A failing part doesn't fail its job: it runs again in the next minute. */
async function sweep(system: ServiceContext, part: SweepPart, settings: SweepSettings): Promise<void> {
  try {
    await sweepParts[part](system, settings)
    await recordSweepPart(system, part)
    system.deps.metrics.swept(part, 'done')
  } catch (error) {
    system.deps.metrics.swept(part, 'failed')
    system.deps.log.error({ err: error, part }, 'a part of the sweep failed')
  }
}
