import { setTimeout as sleep } from 'node:timers/promises'
import type { JobResult, PgBoss } from 'pg-boss'
import type { EMAIL_OUTCOMES, ServiceContext } from '../domain/context.ts'
import type { Outcome } from '../domain/invites/emails.ts'
import { type Verdict, withoutAddresses } from '../domain/mail-server.ts'
import type { Line } from './line.ts'
import { type EmailJob, HEARTBEAT_REFRESH_SECONDS } from './queue.ts'

/** A mail as its record has it. */
type Email = { id: string; organizationId: string; state: string }

/** How one kind of mail leaves. */
export type Deliver<E> = {
  /** Whether it is only captured, so that the mail server has no part in it. */
  isCaptured: (email: E) => boolean
  /** Renders it, and hands it to the mail server. @throws Error when it can not be rendered. */
  send: (email: E) => Promise<Verdict>
}

/** A mail that may leave now; `until` when it may not. What is admitted is released when its outcome is recorded. */
export type Admission = { until: Date } | { until: null; release: () => void }

/** A kind of mail: where its jobs and records are, and what is sent of it. */
export type Mailing<E extends Email> = {
  /** What one is called in the log. */
  noun: string
  queue: string
  /** Where jobs go whose retries are used up. */
  deadQueue: string
  /** Whether somebody waits for it at a form: it goes before those that do not. */
  isUrgent: boolean
  /** The records of these ids that there are, in no particular order. */
  find: (system: ServiceContext, ids: string[]) => Promise<E[]>
  /** Why it is not to be sent any more; null while it is. */
  whyObsolete: (email: E, now: Date) => string | null
  /** Whether enough mails were sent for now. */
  admit: (system: ServiceContext, email: E) => Promise<Admission>
  deliver: Deliver<E>
  record: (system: ServiceContext, email: E, outcome: Outcome) => Promise<void>
  giveUp: (system: ServiceContext, id: string) => Promise<void>
  count: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  /** Its ids, for the log. */
  idsOf: (email: E) => object
}

/**
 * A worker takes up to a batch of mails and sends them at once; while batches come back full it goes on without a pause. Each new job
 * wakes every idle worker: with few of them the jobs gather while a batch is sent, and share its queries.
 */
const WORKERS = 2
const BATCH = 20
/**
 * Milliseconds after which a batch has another worker join, which leaves with it, and how many may have joined: a mail server may take ten
 * minutes over one mail. Of them all one organization has no more than so many mails.
 */
const LONG_BATCH_MS = 10_000
const RELIEF = 6
const PER_ORGANIZATION = 100
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
export async function startSending<E extends Email>(
  boss: PgBoss,
  system: ServiceContext,
  mailing: Mailing<E>,
  line: Line,
): Promise<void> {
  const stopped = new AbortController()
  boss.once('stopped', () => stopped.abort())
  // pg-boss would poll every 30 s only where jobs announce themselves.
  const polling = { pollingIntervalSeconds: POLLING_SECONDS, notifyPollingIntervalSeconds: POLLING_SECONDS }
  const batches = { ...polling, batchSize: BATCH, burstWhenBatchFull: true, perJobResults: true } as const
  const sending = {
    ...batches,
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS,
    groupConcurrency: PER_ORGANIZATION,
  } as const
  let relief = 0

  async function work(jobs: { id: string; data: EmailJob }[]): Promise<JobResult[]> {
    let joined: Promise<string> | undefined
    const isLong = setTimeout(() => {
      if (line.stands() || relief >= RELIEF || stopped.signal.aborted) return
      relief++
      joined = boss.work<EmailJob>(mailing.queue, { ...sending, localConcurrency: 1 }, work)
      joined.catch((error) => system.deps.log.error({ err: error }, 'job queue'))
    }, LONG_BATCH_MS).unref()
    try {
      const emails = await mailing.find(
        system,
        jobs.map(({ data }) => data.emailId),
      )
      const byId = new Map(emails.map((email) => [email.id, email]))
      const send = (email: E | undefined) => sendEmail(system, mailing, line, email, stopped.signal)
      const results = await Promise.all(jobs.map(({ id, data }) => settle(id, send(byId.get(data.emailId)))))
      if (jobs.length < BATCH) await sleep(GATHER_MS)
      return results
    } finally {
      clearTimeout(isLong)
      if (joined) {
        relief--
        const id = await joined.catch(() => undefined)
        if (id) boss.offWork(mailing.queue, { id, wait: false }).catch(() => {}) // it is stopping, and with it all workers
      }
    }
  }

  await boss.work<EmailJob>(mailing.queue, { ...sending, localConcurrency: WORKERS }, work)
  const givingUp = { ...batches, heartbeatRefreshSeconds: HEARTBEAT_REFRESH_SECONDS }
  await boss.work<EmailJob>(mailing.deadQueue, givingUp, (jobs) =>
    Promise.all(jobs.map(({ id, data }) => settle(id, giveUp(system, mailing, data.emailId)))),
  )
}

/** The mail that is to begin last, of all kinds. */
let lastToBegin = Promise.resolve()

/** Requests come first: while there are any, mails begin one after the other, some time apart. */
function giveWay({ deps: { traffic } }: ServiceContext): Promise<void> {
  const hasTraffic = () => performance.now() - traffic.answeredAt < TRAFFIC_MS
  lastToBegin = lastToBegin.then(() => (hasTraffic() ? sleep(PAUSE_MS) : undefined))
  return lastToBegin
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
 * A mail's turn, with as many attempts as the mail server's state takes. It does nothing when an earlier attempt has succeeded but could
 * not tell the queue, or when the organization was deleted meanwhile, and its mail with it.
 */
async function sendEmail<E extends Email>(
  system: ServiceContext,
  mailing: Mailing<E>,
  line: Line,
  email: E | undefined,
  stopped: AbortSignal,
): Promise<void> {
  if (email?.state !== 'queued') return
  const { noun, count } = mailing
  const { log } = system.deps
  const record = (outcome: Outcome) => recordWhateverItTakes(system, mailing, email, outcome, stopped)
  const outcome = await attempt(system, mailing, line, email, record)
  if (outcome === null) return
  const fields = { emailId: email.id, ...mailing.idsOf(email) }
  if (outcome.state === 'queued') {
    count('retried')
    log.warn({ ...fields, reason: withoutAddresses(outcome.reason) }, `${noun} could not be sent yet`)
    throw new Error(outcome.reason)
  }
  if (outcome.state === 'delayed') {
    log.info({ ...fields, until: outcome.until }, `${noun} waits: enough were sent for a day`)
    return
  }
  if (outcome.state !== 'failed') {
    count(outcome.state)
    log.info({ ...fields, state: outcome.state }, `${noun} was ${outcome.state}`)
    return
  }
  const { failure, reason } = outcome
  count(failure === 'obsolete' ? 'obsolete' : 'failed')
  log.warn({ ...fields, reason: withoutAddresses(reason) }, `${noun} was ${failure === 'obsolete' ? 'obsolete' : 'refused'}`)
}

/** What became of the mail, which is recorded; null when there is nothing to send any more. @throws Error when the service is stopped before. */
async function attempt<E extends Email>(
  system: ServiceContext,
  mailing: Mailing<E>,
  line: Line,
  email: E,
  record: (outcome: Outcome) => Promise<void>,
): Promise<Outcome | null> {
  const { deliver } = mailing
  const { clock } = system.deps
  let isFirst = true
  let outcome: Outcome | null = null
  const conclude = async (decided: Outcome) => {
    outcome = decided
    await record(decided)
  }
  /** Checks what has to hold at the moment the mail leaves: it may have waited for hours since it was read. */
  const tryOnce = async (): Promise<Verdict | null> => {
    await giveWay(system)
    const current = isFirst ? email : (await mailing.find(system, [email.id]))[0]
    isFirst = false
    if (current?.state !== 'queued') return null
    const obsolete = mailing.whyObsolete(current, clock())
    if (obsolete !== null) {
      await conclude({ state: 'failed', failure: 'obsolete', reason: obsolete })
      return null
    }
    if (deliver.isCaptured(current)) {
      await conclude({ state: 'captured' })
      return null
    }
    const admission = await mailing.admit(system, current)
    if (admission.until) {
      await conclude({ state: 'delayed', until: admission.until, jobId: system.deps.newId() })
      return null
    }
    try {
      const verdict = await deliver.send(current).catch((error: Error): Verdict => ({ kind: 'later', reason: error.message }))
      await record(toOutcome(verdict))
      return verdict
    } finally {
      admission.release()
    }
  }
  if (deliver.isCaptured(email) || mailing.whyObsolete(email, clock()) !== null) {
    await tryOnce()
    return outcome
  }
  const { organizationId: group, id } = email
  const begun = performance.now()
  const decided = await line.join({ id, group, isUrgent: mailing.isUrgent }, () => {
    isFirst &&= performance.now() - begun < FRESH_MS
    return tryOnce()
  })
  if (decided === null) return outcome
  if (decided.kind !== 'doubtful') return toOutcome(decided)
  system.deps.log.warn({ emailId: id }, 'the mail server may want no mails of this sender')
  return { state: 'queued', reason: decided.reason }
}

/** Milliseconds for which what was read of a mail still holds. */
const FRESH_MS = 1_000

function toOutcome(verdict: Exclude<Verdict, null> | { kind: 'doubtful'; reason: string }): Outcome {
  if (verdict.kind === 'taken') return { state: 'sent' }
  if (verdict.kind === 'refused') return { state: 'failed', failure: 'refused', reason: verdict.reason }
  return { state: 'queued', reason: verdict.reason }
}

/**
 * Tries until the database takes it: a mail that was sent and is not known to be is sent again. Until then the job is confirmed as this
 * process's own, see `superviseWhenSteady`, and the worker takes no others.
 */
async function recordWhateverItTakes<E extends Email>(
  system: ServiceContext,
  { noun, record }: Mailing<E>,
  email: E,
  outcome: Outcome,
  stopped: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await record(system, email, outcome)
    } catch (error) {
      if (stopped.aborted) throw error
      if (tries === 1)
        system.deps.log.error({ err: error, emailId: email.id }, `the outcome of sending ${noun} could not be recorded: retrying`)
      await sleep(RECORD_AGAIN_MS, undefined, { ref: false })
    }
  }
}
