import { setTimeout as sleep } from 'node:timers/promises'
import type { JobResult, PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { findEmails, giveUpEmail, type InviteEmail, type Outcome, recordAttempt } from '../domain/invites/emails.ts'
import { asOfNow } from '../domain/invites/lifecycle.ts'
import { DEAD_INVITATION_EMAILS, HEARTBEAT_REFRESH_SECONDS, INVITATION_EMAILS, type InvitationEmailJob } from './queue.ts'

/** Renders and hands over one mail. Throws when another try may succeed. */
export type DeliverInvitation = (email: InviteEmail) => Promise<Exclude<Outcome, { state: 'queued' }>>

/**
 * A worker takes up to a batch of mails and sends them at once; while batches come back full it goes on without a pause. Each new job
 * wakes every idle worker: with few of them the jobs gather while a batch is sent, and share its queries. A mail server that takes its
 * time over one mail holds up one worker's turn, not the other's.
 */
const WORKERS = 2
const BATCH = 20
/** New jobs announce themselves (LISTEN/NOTIFY); the poll is for those that become due: retries, the dead, and what was missed. */
const POLLING_SECONDS = 2
const RECORD_AGAIN_MS = 500

/** Starts the workers that send what the queue holds. They end with `boss.stop()`. */
export async function startSendingInvitations(boss: PgBoss, system: ServiceContext, deliver: DeliverInvitation): Promise<void> {
  const stopped = new AbortController()
  boss.once('stopped', () => stopped.abort())
  // pg-boss would poll every 30 s only where jobs announce themselves.
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const batches = { ...polling, batchSize: BATCH, burstWhenBatchFull: true, perJobResults: true } as const
  const sending = { ...batches, localConcurrency: WORKERS, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<InvitationEmailJob>(INVITATION_EMAILS, sending, async (jobs) => {
    const emails = await findEmails(
      system,
      jobs.map(({ data }) => data.emailId),
    )
    const byId = new Map(emails.map((email) => [email.id, email]))
    const send = (email: InviteEmail | undefined) => sendInvitation(system, deliver, email, stopped.signal)
    return Promise.all(jobs.map(({ id, data }) => settle(id, send(byId.get(data.emailId)))))
  })
  const givingUp = { ...batches, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<InvitationEmailJob>(DEAD_INVITATION_EMAILS, givingUp, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => settle(id, giveUp(system, data.emailId)))),
  )
}

/** One job's outcome, so that those of its batch do not share it. */
const settle = async (id: string, work: Promise<void>): Promise<JobResult> =>
  work.then(
    () => ({ id, status: 'completed' as const }),
    (error: Error) => ({ id, status: 'failed' as const, output: { message: error.message } }),
  )

async function giveUp(system: ServiceContext, emailId: string): Promise<void> {
  await giveUpEmail(system, emailId)
  system.deps.log.error({ emailId }, 'sending an invitation failed: no retries left')
}

/**
 * One attempt. It does nothing when an earlier attempt has succeeded but could not tell the queue, or when the organization was deleted
 * meanwhile, and its mail with it.
 */
async function sendInvitation(
  system: ServiceContext,
  deliver: DeliverInvitation,
  email: InviteEmail | undefined,
  stopped: AbortSignal,
): Promise<void> {
  if (email?.state !== 'queued') return
  const outcome = await attempt(email, deliver, system.deps.clock())
  await recordWhateverItTakes(system, email.id, outcome, stopped)
  const fields = { emailId: email.id, inviteId: email.inviteId, organizationId: email.organizationId }
  if (outcome.state === 'queued') {
    system.deps.metrics.emailAttempted('retried')
    system.deps.log.warn({ ...fields, reason: withoutAddresses(outcome.reason) }, 'an invitation could not be sent yet')
    throw new Error(outcome.reason)
  }
  system.deps.metrics.emailAttempted(outcome.state)
  if (outcome.state === 'failed')
    system.deps.log.warn({ ...fields, reason: withoutAddresses(outcome.reason) }, 'an invitation was refused')
  else system.deps.log.info({ ...fields, state: outcome.state }, 'an invitation was sent')
}

async function attempt(email: InviteEmail, deliver: DeliverInvitation, now: Date): Promise<Outcome> {
  const obsolete = whyObsolete(email, now)
  if (obsolete !== null) return { state: 'failed', failure: 'obsolete', reason: obsolete }
  try {
    return await deliver(email)
  } catch (error) {
    return { state: 'queued', reason: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Tries until the database takes it: a mail that was sent and is not known to be is sent again. Until then the job is confirmed as this
 * process's own, see `superviseWhenSteady`, and the worker takes no others.
 */
async function recordWhateverItTakes(
  system: ServiceContext,
  emailId: string,
  outcome: Outcome,
  stopped: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await recordAttempt(system, emailId, outcome)
    } catch (error) {
      if (stopped.aborted) throw error
      if (tries === 1)
        system.deps.log.error({ err: error, emailId }, 'the outcome of sending an invitation could not be recorded: retrying')
      await sleep(RECORD_AGAIN_MS, undefined, { ref: false })
    }
  }
}

/** Mail servers like to repeat the recipient; the log is not to know. */
const withoutAddresses = (reason: string): string => reason.replace(/[^\s<>]+@[^\s<>]+/g, '…')

/** A mail whose link would be dead on arrival is not sent. */
function whyObsolete({ invite, linkVersion }: InviteEmail, now: Date): string | null {
  const { status } = asOfNow(invite, now)
  if (status === 'revoked' || status === 'expired' || status === 'completed') return `Not sent: the invite is ${status}.`
  if (invite.linkVersion !== linkVersion) return 'Not sent: the invite has been reactivated with a new link.'
  return null
}
