import { setTimeout as sleep } from 'node:timers/promises'
import type { JobResult, PgBoss } from 'pg-boss'
import type { EMAIL_OUTCOMES, ServiceContext } from '../domain/context.ts'
import type { Outcome } from '../domain/invites/emails.ts'
import { type EmailJob, HEARTBEAT_REFRESH_SECONDS } from './queue.ts'

/** A mail as its record has it. */
type Email = { id: string; state: string }

/** Renders and hands over one mail. Throws when another try may succeed. */
export type Deliver<E> = (email: E) => Promise<Exclude<Outcome, { state: 'queued' }>>

/** A kind of mail: where its jobs and records are, and what is sent of it. */
export type Mailing<E extends Email> = {
  /** What one is called in the log. */
  noun: string
  queue: string
  /** Where jobs go whose retries are used up. */
  deadQueue: string
  /** The records of these ids that there are, in no particular order. */
  find: (system: ServiceContext, ids: string[]) => Promise<E[]>
  /** Why it is not to be sent any more; null while it is. */
  whyObsolete: (email: E, now: Date) => string | null
  deliver: Deliver<E>
  record: (system: ServiceContext, id: string, outcome: Outcome) => Promise<void>
  giveUp: (system: ServiceContext, id: string) => Promise<void>
  count: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  /** Its ids, for the log. */
  idsOf: (email: E) => object
}

/**
 * A worker takes up to a batch of mails and sends them at once; while batches come back full it goes on without a pause. Each new job
 * wakes every idle worker: with few of them the jobs gather while a batch is sent, and share its queries. A mail server that takes its
 * time over one mail holds up one worker's turn, not the other's.
 */
const WORKERS = 2
const BATCH = 20
/**
 * Milliseconds that a worker whose batch was not full keeps it, so that jobs gather: one batch of some costs the queue and the database
 * as much as one of one. A mail that comes alone is sent at once.
 */
const GATHER_MS = 100
/** New jobs announce themselves (LISTEN/NOTIFY); the poll is for those that become due: retries, the dead, and what was missed. */
const POLLING_SECONDS = 2
const RECORD_AGAIN_MS = 500
/** Milliseconds since the last answer for which there is traffic, and between two mails meanwhile: that many leave requests most of the process. */
const TRAFFIC_MS = 50
const PAUSE_MS = 20

/** Starts the workers that send what the mailing's queue holds. They end with `boss.stop()`. */
export async function startSending<E extends Email>(boss: PgBoss, system: ServiceContext, mailing: Mailing<E>): Promise<void> {
  const stopped = new AbortController()
  boss.once('stopped', () => stopped.abort())
  // pg-boss would poll every 30 s only where jobs announce themselves.
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const batches = { ...polling, batchSize: BATCH, burstWhenBatchFull: true, perJobResults: true } as const
  const sending = { ...batches, localConcurrency: WORKERS, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<EmailJob>(mailing.queue, sending, async (jobs) => {
    const emails = await mailing.find(
      system,
      jobs.map(({ data }) => data.emailId),
    )
    const byId = new Map(emails.map((email) => [email.id, email]))
    const send = async (email: E | undefined) => {
      await giveWay(system)
      return sendEmail(system, mailing, email, stopped.signal)
    }
    const results = await Promise.all(jobs.map(({ id, data }) => settle(id, send(byId.get(data.emailId)))))
    if (jobs.length < BATCH) await sleep(GATHER_MS)
    return results
  })
  const givingUp = { ...batches, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<EmailJob>(mailing.deadQueue, givingUp, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => settle(id, giveUp(system, mailing, data.emailId)))),
  )
}

/** The mail that is to begin last, of all kinds. */
let line = Promise.resolve()

/** Requests come first: while there are any, mails begin one after the other, some time apart. */
function giveWay({ deps: { traffic } }: ServiceContext): Promise<void> {
  const hasTraffic = () => performance.now() - traffic.answeredAt < TRAFFIC_MS
  line = line.then(() => (hasTraffic() ? sleep(PAUSE_MS) : undefined))
  return line
}

/** One job's outcome, so that those of its batch do not share it. */
const settle = async (id: string, work: Promise<void>): Promise<JobResult> =>
  work.then(
    () => ({ id, status: 'completed' as const }),
    (error: Error) => ({ id, status: 'failed' as const, output: { message: error.message } }),
  )

async function giveUp<E extends Email>(system: ServiceContext, mailing: Mailing<E>, emailId: string): Promise<void> {
  await mailing.giveUp(system, emailId)
  mailing.count('failed')
  system.deps.log.error({ emailId }, `sending ${mailing.noun} failed: no retries left`)
}

/**
 * One attempt. It does nothing when an earlier attempt has succeeded but could not tell the queue, or when the organization was deleted
 * meanwhile, and its mail with it.
 */
async function sendEmail<E extends Email>(
  system: ServiceContext,
  mailing: Mailing<E>,
  email: E | undefined,
  stopped: AbortSignal,
): Promise<void> {
  if (email?.state !== 'queued') return
  const { noun, count } = mailing
  const { log, clock } = system.deps
  const outcome = await attempt(mailing, email, clock())
  await recordWhateverItTakes(system, mailing, email.id, outcome, stopped)
  const fields = { emailId: email.id, ...mailing.idsOf(email) }
  if (outcome.state === 'queued') {
    count('retried')
    log.warn({ ...fields, reason: withoutAddresses(outcome.reason) }, `${noun} could not be sent yet`)
    throw new Error(outcome.reason)
  }
  if (outcome.state !== 'failed') {
    count(outcome.state)
    log.info({ ...fields, state: outcome.state }, `${noun} was sent`)
    return
  }
  const { failure, reason } = outcome
  count(failure === 'obsolete' ? 'obsolete' : 'failed')
  log.warn({ ...fields, reason: withoutAddresses(reason) }, `${noun} was ${failure === 'obsolete' ? 'obsolete' : 'refused'}`)
}

async function attempt<E extends Email>({ whyObsolete, deliver }: Mailing<E>, email: E, now: Date): Promise<Outcome> {
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
async function recordWhateverItTakes<E extends Email>(
  system: ServiceContext,
  { noun, record }: Mailing<E>,
  emailId: string,
  outcome: Outcome,
  stopped: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await record(system, emailId, outcome)
    } catch (error) {
      if (stopped.aborted) throw error
      if (tries === 1)
        system.deps.log.error({ err: error, emailId }, `the outcome of sending ${noun} could not be recorded: retrying`)
      await sleep(RECORD_AGAIN_MS, undefined, { ref: false })
    }
  }
}

/** Mail servers like to repeat the recipient; the log is not to know. */
const withoutAddresses = (reason: string): string => reason.replace(/[^\s<>]+@[^\s<>]+/g, '…')
