import { setTimeout as sleep } from 'node:timers/promises'
import { bindToTrace, inSpan } from '../domain/concurrency/tracing.ts'
import type { ServiceContext } from '../domain/context.ts'
import type { Verdict } from '../domain/mails/mail-outage.ts'
import type { SendOutcome } from '../domain/mails/send-outcome.ts'
import type { MailDispatcher } from './mail-dispatcher.ts'
import type { MailKind, QueuedMail } from './mailing.ts'

const RECORD_AGAIN_MS = 500
/** There is traffic while the last response is at most TRAFFIC_MS ago. Mails then start PAUSE_MS apart, which leaves most of the CPU to requests. */
const TRAFFIC_MS = 50
const PAUSE_MS = 20
/** Milliseconds for which a mail's row need not be read again. */
const ROW_FRESH_MS = 1_000

/** Sends one mail and records its outcome. @returns the outcome; null if there is nothing left to send. @throws Error if the service stops first. */
export async function attemptMail<E extends QueuedMail>(
  system: ServiceContext,
  mailing: MailKind<E>,
  dispatcher: MailDispatcher,
  email: E,
  stopped: AbortSignal,
): Promise<SendOutcome | null> {
  const { deliver } = mailing
  let latest = email
  const record = (outcome: SendOutcome) =>
    retryUntilRecorded(
      () => mailing.record(system, latest, outcome),
      stopped,
      (err) =>
        system.deps.log.error(
          { err, emailId: latest.id },
          `the result of sending ${mailing.noun} could not be recorded: retrying`,
        ),
    )
  const { clock } = system.deps
  let isFirst = true
  let outcome: SendOutcome | null = null
  const finish = async (finalOutcome: SendOutcome) => {
    outcome = finalOutcome
    await record(finalOutcome)
  }
  /** Repeats all checks right before the mail leaves: it may have waited for hours since it was read. */
  const tryOnce = async (): Promise<Verdict | null> => {
    await yieldToRequests(system)
    const current = isFirst ? email : (await mailing.find(system, [email]))[0]
    isFirst = false
    if (current?.state !== 'queued') return null
    latest = current
    const obsolete = mailing.whyObsolete(current, clock())
    if (obsolete !== null) {
      await finish({ state: 'failed', failure: 'obsolete', reason: obsolete })
      return null
    }
    const suppressed = await mailing.whySuppressed(system, current)
    if (suppressed !== null) {
      await finish({ state: 'failed', failure: 'suppressed', reason: suppressed })
      return null
    }
    if (deliver.isCaptured(current)) {
      await finish({ state: 'captured' })
      return null
    }
    const admission = await mailing.admit(system, current)
    if (admission.until) {
      await finish({ state: 'delayed', until: admission.until, jobId: system.deps.newId() })
      return null
    }
    try {
      const verdict = await send(deliver, current)
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
  const startedAt = performance.now()
  const attempt = bindToTrace(() => {
    isFirst &&= performance.now() - startedAt < ROW_FRESH_MS
    return tryOnce()
  })
  const decided = await dispatcher.dispatch({ id, group, rank: mailing.rankOf(email) }, attempt)
  if (decided === null) return outcome
  if (decided.kind !== 'doubtful') return toOutcome(decided)
  system.deps.log.warn({ emailId: id }, 'the mail server may reject this sender')
  return { state: 'queued', reason: decided.reason }
}

/** Traced separately, because SMTP takes most of the time. */
const send = <E extends QueuedMail>({ send }: MailKind<E>['deliver'], email: E): Promise<Verdict> =>
  inSpan({ name: 'mail', kind: 'client' }, async (span) => {
    const verdict = await send(email).catch((error: Error): Verdict => ({ kind: 'later', reason: error.message }))
    span.attributes.outcome = verdict.kind
    span.failed = verdict.kind !== 'taken'
    return verdict
  })

function toOutcome(verdict: Exclude<Verdict, null> | { kind: 'doubtful'; reason: string }): SendOutcome {
  if (verdict.kind === 'taken') return { state: 'sent' }
  if (verdict.kind === 'refused') return { state: 'failed', failure: 'refused', reason: verdict.reason }
  return { state: 'queued', reason: verdict.reason }
}

/** The mail of any kind that starts last. */
let lastStart = Promise.resolve()

/** Gives requests priority: while there are requests, mails start one by one, PAUSE_MS apart. */
function yieldToRequests({ deps: { traffic } }: ServiceContext): Promise<void> {
  const hasTraffic = () => performance.now() - traffic.answeredAt < TRAFFIC_MS
  lastStart = lastStart.then(() => (hasTraffic() ? sleep(PAUSE_MS) : undefined))
  return lastStart
}

/** Postpones the mails of suspended organizations. They don't wait in the dispatcher: there may be thousands, checked again and again. */
export async function postponeMails<E extends QueuedMail>(
  system: ServiceContext,
  mailing: MailKind<E>,
  emails: E[],
  stopped: AbortSignal,
): Promise<void> {
  const { log, newId } = system.deps
  const jobIds = emails.map(() => newId())
  const work = () => mailing.postpone(system, emails, jobIds)
  await retryUntilRecorded(work, stopped, (err) =>
    log.error({ err }, 'mails of suspended organizations could not be postponed: retrying'),
  )
  log.info({ emails: emails.length }, 'mails wait: their organizations are suspended')
}

/**
 * Retries until the database accepts the result: a sent mail without a recorded outcome would be sent again. Meanwhile this process keeps the
 * job's heartbeat alive (see `superviseWhenSteady`), and the worker takes no other jobs.
 *
 * @param onFirstFailure is called with the first error only.
 */
async function retryUntilRecorded(
  work: () => Promise<void>,
  stopped: AbortSignal,
  onFirstFailure: (error: unknown) => void,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (stopped.aborted) throw error
      if (tries === 1) onFirstFailure(error)
      await sleep(RECORD_AGAIN_MS, undefined, { ref: false })
    }
  }
}
