import type { JobResult, PgBoss } from 'pg-boss'
import type { Deps } from '../domain/context.ts'
import { findEmails, giveUpEmail, type InviteEmail, recordAttempt } from '../domain/invite-emails.ts'
import { asOfNow } from '../domain/invite-lifecycle.ts'
import { DEAD_INVITATION_EMAILS, INVITATION_EMAILS, type InvitationEmailJob } from './queue.ts'

/** What becomes of a mail that is handed over: the server took it, it was captured, or it was refused for good. */
export type Delivery = { state: 'sent' | 'captured' } | { state: 'failed'; reason: string }

/** Renders and hands over one mail. Throws when another try may succeed. */
export type DeliverInvitation = (email: InviteEmail) => Promise<Delivery>

/**
 * A worker takes up to a batch of mails and sends them at once; while batches come back full it goes on without a pause. Each new job
 * wakes every idle worker: with few of them the jobs gather while a batch is sent, and share its queries. A mail server that takes its
 * time over one mail holds up one worker's turn, not the other's.
 */
const WORKERS = 2
const BATCH = 20
/** New jobs announce themselves (LISTEN/NOTIFY); the poll is for those that become due: retries, the dead, and what was missed. */
const POLLING_SECONDS = 2

/** Starts the workers that send what the queue holds. They end with `boss.stop()`. */
export async function workInvitationEmails(boss: PgBoss, deps: Deps, deliver: DeliverInvitation): Promise<void> {
  // pg-boss would poll every 30 s only where jobs announce themselves.
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const batches = { ...polling, batchSize: BATCH, burstWhenBatchFull: true, perJobResults: true } as const
  await boss.work<InvitationEmailJob>(INVITATION_EMAILS, { ...batches, localConcurrency: WORKERS }, async (jobs) => {
    const emails = await findEmails(
      deps,
      jobs.map(({ data }) => data.emailId),
    )
    const byId = new Map(emails.map((email) => [email.id, email]))
    return Promise.all(jobs.map(({ id, data }) => settle(id, sendInvitation(deps, deliver, byId.get(data.emailId)))))
  })
  await boss.work<InvitationEmailJob>(DEAD_INVITATION_EMAILS, batches, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => settle(id, giveUp(deps, data.emailId)))),
  )
}

/** One job's outcome, so that those of its batch do not share it. */
const settle = async (id: string, work: Promise<void>): Promise<JobResult> =>
  work.then(
    () => ({ id, status: 'completed' as const }),
    (error: Error) => ({ id, status: 'failed' as const, output: { message: error.message } }),
  )

async function giveUp(deps: Deps, emailId: string): Promise<void> {
  await giveUpEmail(deps, emailId)
  deps.log.error({ emailId }, 'an invitation was given up after all its retries')
}

/**
 * One attempt. It does nothing when an earlier attempt has succeeded but could not tell the queue, or when the organization was deleted
 * meanwhile, and its mail with it.
 */
async function sendInvitation(deps: Deps, deliver: DeliverInvitation, email: InviteEmail | undefined): Promise<void> {
  if (email?.state !== 'queued') return
  const { id: emailId, inviteId, organizationId } = email
  const fields = { emailId, inviteId, organizationId }
  const obsolete = whyObsolete(email, deps.clock())
  try {
    const delivery = obsolete ? { state: 'failed' as const, reason: obsolete } : await deliver(email)
    await recordAttempt(deps, emailId, delivery)
    deps.metrics.emailAttempted(delivery.state)
    if (delivery.state === 'failed')
      deps.log.warn({ ...fields, reason: withoutAddresses(delivery.reason) }, 'an invitation was refused')
    else deps.log.info({ ...fields, state: delivery.state }, 'an invitation was sent')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    deps.metrics.emailAttempted('retried')
    await recordAttempt(deps, emailId, { state: 'queued', reason })
    deps.log.warn({ ...fields, reason: withoutAddresses(reason) }, 'an invitation could not be sent yet')
    throw error
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
