import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, JobResult, PgBoss } from 'pg-boss'
import type { QueuedRef } from '../domain/concurrency/queued-ref.ts'
import type { ServiceContext } from '../domain/context.ts'
import { withoutAddresses } from '../domain/mails/mail-outage.ts'
import type { SendOutcome } from '../domain/mails/send-outcome.ts'
import { attemptMail, postponeMails } from './attempt-mail.ts'
import type { MailDispatcher } from './mail-dispatcher.ts'
import type { MailKind, QueuedMail } from './mailing.ts'
import { type EmailJob, HEARTBEAT_REFRESH_SECONDS } from './queue.ts'
import { runJob } from './run-job.ts'

/**
 * A worker takes up to BATCH mails and sends them concurrently, without a pause while batches are full. Every new job wakes each idle worker:
 * with few workers, jobs collect while a batch is sent and share its queries. There are enough workers to fill the mail server's connections.
 */
const MIN_WORKERS = 2
const BATCH = 20
/**
 * A mail server may take ten minutes over one mail. After LONG_BATCH_MS another worker joins until the batch ends, at most RELIEF of them. One
 * organization has at most PER_ORGANIZATION mails in progress.
 */
const LONG_BATCH_MS = 10_000
const MAX_EXTRA_WORKERS = 6
const MAX_PER_ORGANIZATION = 100
/** Milliseconds that a worker waits after a batch that was not full: one query for several jobs costs as much as for one. A single mail is sent at once. */
const COLLECT_MS = 100
/** New jobs announce themselves (LISTEN/NOTIFY). Polling finds jobs that become due (retries, dead letters) and missed notifications. */
const POLLING_SECONDS = 2
/** Worker options for batches. `notifyPollingIntervalSeconds` replaces pg-boss's 30 s, which would delay jobs that announce themselves together. */
export const BATCH_OPTIONS = {
  ...{ pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS },
  ...{ batchSize: BATCH, burstWhenBatchFull: true, perJobResults: true as const },
}

/** Starts the workers of the mailing's queues. They end with `boss.stop()`. */
export async function startMailWorkers<E extends QueuedMail>(
  boss: PgBoss,
  system: ServiceContext,
  mailing: MailKind<E>,
  dispatcher: MailDispatcher,
): Promise<void> {
  const stopped = new AbortController()
  boss.once('stopped', () => stopped.abort())
  const sending = {
    ...BATCH_OPTIONS,
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
    groupConcurrency: MAX_PER_ORGANIZATION,
  } as const
  let extraWorkers = 0

  async function work(jobs: Job<EmailJob>[]): Promise<JobResult[]> {
    let extraWorker: Promise<string> | undefined
    const extraWorkerTimer = setTimeout(() => {
      if (dispatcher.isPaused() || extraWorkers >= MAX_EXTRA_WORKERS || stopped.signal.aborted) return
      extraWorkers++
      extraWorker = boss.work<EmailJob>(mailing.queue, { ...sending, localConcurrency: 1 }, work)
      extraWorker.catch((error) => system.deps.log.error({ err: error }, 'job queue'))
    }, LONG_BATCH_MS).unref()
    try {
      const emails = await mailing.find(
        system,
        jobs.map(({ data }) => refOf(data)),
      )
      const byId = new Map(emails.map((email) => [email.id, email]))
      const suspended = new Set(emails.filter((email) => email.state === 'queued' && mailing.isSuspended(email)))
      const postponed = suspended.size > 0 ? postponeMails(system, mailing, [...suspended], stopped.signal) : Promise.resolve()
      const send = (email: E | undefined) =>
        email && suspended.has(email) ? postponed : sendEmail(system, mailing, dispatcher, email, stopped.signal)
      const results = await Promise.all(
        jobs.map((job) =>
          toJobResult(
            job.id,
            runJob(mailing.queue, job, () => send(byId.get(job.data.emailId))),
          ),
        ),
      )
      if (jobs.length < BATCH) await sleep(COLLECT_MS)
      return results
    } finally {
      clearTimeout(extraWorkerTimer)
      if (extraWorker) {
        extraWorkers--
        const id = await extraWorker.catch(() => undefined)
        if (id) boss.offWork(mailing.queue, { id, wait: false }).catch(() => {}) // pg-boss is stopping, which ends all workers
      }
    }
  }

  await boss.work<EmailJob>(
    mailing.queue,
    { ...sending, localConcurrency: Math.max(MIN_WORKERS, Math.ceil(dispatcher.width / BATCH)) },
    work,
  )
  const givingUp = { ...BATCH_OPTIONS, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<EmailJob>(mailing.deadQueue, givingUp, (jobs) =>
    Promise.all(
      jobs.map((job) =>
        toJobResult(
          job.id,
          runJob(mailing.deadQueue, job, () => giveUp(system, mailing, refOf(job.data))),
        ),
      ),
    ),
  )
}

const refOf = ({ emailId: id, organizationId }: EmailJob): QueuedRef => ({ id, organizationId })

/** Reports one job's result, so that one failure doesn't fail its batch. */
export const toJobResult = async (id: string, work: Promise<unknown>): Promise<JobResult> =>
  work.then(
    () => ({ id, status: 'completed' as const }),
    (error: Error) => ({ id, status: 'failed' as const, output: { message: error.message } }),
  )

async function giveUp<E extends QueuedMail>(system: ServiceContext, mailing: MailKind<E>, ref: QueuedRef): Promise<void> {
  await mailing.giveUp(system, ref)
  mailing.count('failed')
  system.deps.log.error({ emailId: ref.id, outcome: 'failed' }, `sending ${mailing.noun} failed: no retries left`)
}

/** Sends one mail, if it is still queued: an earlier attempt may have succeeded without confirming its job, and the organization may be deleted. */
async function sendEmail<E extends QueuedMail>(
  system: ServiceContext,
  mailing: MailKind<E>,
  dispatcher: MailDispatcher,
  email: E | undefined,
  stopped: AbortSignal,
): Promise<void> {
  if (email?.state !== 'queued') return
  const { noun, count } = mailing
  const { log } = system.deps
  const outcome = await attemptMail(system, mailing, dispatcher, email, stopped)
  if (outcome === null) return
  const label = labelOutcome(outcome)
  const fields = { emailId: email.id, ...mailing.idsOf(email), outcome: label }
  if (label !== 'delayed') count(label)
  if (outcome.state === 'queued') {
    log.warn({ ...fields, reason: withoutAddresses(outcome.reason) }, `${noun} could not be sent yet`)
    throw new Error(outcome.reason)
  }
  if (outcome.state === 'delayed') log.info({ ...fields, until: outcome.until }, `${noun} waits: the daily limit is reached`)
  else if (outcome.state !== 'failed') log.info(fields, `${noun} was ${outcome.state}`)
  else if (outcome.failure === 'suppressed') log.info(fields, `${noun} was suppressed`)
  else {
    const { failure, reason } = outcome
    log.warn({ ...fields, reason: withoutAddresses(reason) }, `${noun} was ${failure === 'obsolete' ? 'obsolete' : 'refused'}`)
  }
}

/** Outcome as metrics and log name it. */
function labelOutcome(outcome: SendOutcome) {
  if (outcome.state === 'queued') return 'retried'
  if (outcome.state !== 'failed') return outcome.state
  return outcome.failure === 'obsolete' || outcome.failure === 'suppressed' ? outcome.failure : 'failed'
}
