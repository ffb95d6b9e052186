import { type ConcurrencySlots, createConcurrencySlots } from '../domain/concurrency/concurrency-slots.ts'
import { createFairOrder, type FairOrder } from '../domain/concurrency/fair-order.ts'
import { type Verdict, withoutAddresses } from '../domain/mails/mail-outage.ts'
import type { Log } from '../domain/ports/log-events.ts'
import { createMailOutageState, type MailOutageState, type SharedOutage } from './mail-outage-state.ts'
import { createMailThrottle, type MailThrottle } from './mail-throttle.ts'
import type { Rank } from './mailing.ts'

/** Sends one mail; null if it need not be sent any more. */
export type SendAttempt = () => Promise<Verdict | null>
type DispatchResult = Exclude<Verdict, { kind: 'unable' }> | { kind: 'doubtful'; reason: string } | null

export type MailDispatcher = {
  /**
   * Sends the mail when its turn comes, and retries while the server takes no mails at all.
   *
   * @param group organization id: waiting groups share the server equally. @param rank lower ranks go first.
   * @returns the verdict; `doubtful` if the server may refuse this mail or all mails; null if the attempt returned null.
   * @throws Error if the dispatcher is closed.
   */
  dispatch: (mail: { id: string; group: string; rank: Rank }, attempt: SendAttempt) => Promise<DispatchResult>
  /** Most mails sent at a time. */
  width: number
  /** True while mails wait because the server takes none. */
  isPaused: () => boolean
  close: () => void
}

type UnableVerdict = Verdict & { kind: 'unable' }

type WaitingMail = {
  id: string
  group: string
  rank: Rank
  /** True for mails refused in this outage. They go last, so that each probe tries another mail. */
  wasTried: boolean
  attempt: SendAttempt
  settle: (outcome: DispatchResult) => void
  fail: (error: Error) => void
}

/** A mail that takes longer than this no longer counts towards the concurrency limit, so slow recipients don't block others. */
const SLOW_AFTER_MS = 10_000
/** After this many consecutive refusals of different mails, the refusals are taken to concern the service and not one mail. */
const MAX_DOUBTS = 3
/** Interval between checks whether a probe is due, or another process's probe has passed. */
const POLL_MS = 1_000

type DispatcherState = {
  log: Log
  /** Closes idle connections. */
  closeIdle: () => void
  waiting: WaitingMail[]
  places: ConcurrencySlots
  order: FairOrder
  throttle: MailThrottle
  outage: MailOutageState
  /** Ids of mails refused since the last accepted one. */
  refusedIds: Set<string>
  isProbing: boolean
  isClosed: boolean
  timer?: NodeJS.Timeout
}

/**
 * Schedules mails for the mail server: one at first, then as many as it takes, fewer when it throttles, and a single probe for all processes
 * during an outage. A mail that fails through no fault of its own is queued again.
 *
 * @param width most mails at a time. @param perMinute 0: unlimited.
 */
export function createMailDispatcher(
  record: SharedOutage,
  log: Log,
  { width, perMinute, closeIdle }: { width: number; perMinute: number; closeIdle: () => void },
): MailDispatcher {
  const state: DispatcherState = {
    log,
    closeIdle,
    waiting: [],
    places: createConcurrencySlots(SLOW_AFTER_MS, () => startNext(state)),
    order: createFairOrder(),
    throttle: createMailThrottle(width, perMinute),
    outage: createMailOutageState(record, log),
    refusedIds: new Set(),
    isProbing: false,
    isClosed: false,
  }
  return {
    dispatch: ({ id, group, rank }, attempt) =>
      new Promise((settle, fail) => {
        if (state.isClosed) return fail(new Error(CLOSED))
        state.waiting.push({ id, group, rank, wasTried: false, attempt, settle, fail })
        startNext(state)
      }),
    width,
    isPaused: state.outage.isOn,
    close() {
      state.isClosed = true
      clearTimeout(state.timer)
      for (const { fail } of state.waiting.splice(0)) fail(new Error(CLOSED))
    },
  }
}

function scheduleCheck(state: DispatcherState, ms: number): void {
  clearTimeout(state.timer)
  state.timer = setTimeout(() => startNext(state), ms).unref()
}

function startNext(state: DispatcherState): void {
  const { waiting, places, throttle, outage, isClosed } = state
  if (isClosed || waiting.length === 0) return
  if (outage.isOn()) void probe(state)
  else
    while (waiting.length > 0 && throttle.hasRoom(places.taken(), places.underWay()) && mayStart(state))
      startMail(state, take(state), false)
}

/** True if the next mail may start now; otherwise schedules another check. */
function mayStart(state: DispatcherState): boolean {
  const pause = state.throttle.pauseBeforeNext()
  if (pause > 0) scheduleCheck(state, pause)
  return pause === 0
}

/** Takes the next mail by: not yet tried in this outage, rank, fair share of its group, order of arrival. */
function take({ waiting, places, order }: DispatcherState): WaitingMail {
  const countOf = (group: string) => places.byGroup.get(group) ?? 0
  const compare = (one: WaitingMail, other: WaitingMail) =>
    Number(one.wasTried) - Number(other.wasTried) || one.rank - other.rank || order.compare(one.group, other.group, countOf)
  let best = 0
  for (let i = 1; i < waiting.length; i++) if (compare(waiting[i]!, waiting[best]!) < 0) best = i
  const [mail] = waiting.splice(best, 1)
  order.takeTurn(mail!.group)
  return mail!
}

function startMail(state: DispatcherState, mail: WaitingMail, isProbe: boolean): void {
  const attempt = mail.attempt().then(
    (verdict) => finishMail(state, mail, verdict, isProbe),
    (error: Error) => {
      if (isProbe) state.outage.keepProbe()
      mail.fail(error)
    },
  )
  const ended = attempt.finally(() => {
    if (isProbe) state.isProbing = false
  })
  state.places.begin([mail.group], ended)
}

async function finishMail(state: DispatcherState, mail: WaitingMail, verdict: Verdict | null, isProbe: boolean): Promise<void> {
  const { outage, throttle, refusedIds } = state
  if (verdict === null) {
    if (isProbe) outage.keepProbe()
    mail.settle(null)
  } else if (verdict.kind === 'unable') await handleUnable(state, mail, verdict)
  else {
    refusedIds.clear()
    // During an outage only a probe proves recovery: other mails may have used an older connection.
    if (!outage.isOn()) throttle.widen()
    else if (isProbe) await endOutage(state)
    mail.settle(verdict)
  }
}

async function handleUnable(state: DispatcherState, mail: WaitingMail, verdict: UnableVerdict): Promise<void> {
  if (state.isClosed) mail.fail(new Error(CLOSED))
  else if (state.outage.isOn()) await requeueInOutage(state, mail, verdict)
  else if (!verdict.isCertain && state.refusedIds.add(mail.id).size < MAX_DOUBTS) mail.settle(asSingleRefusal(verdict))
  else if (verdict.about === 'throttled') await requeueThrottled(state, mail, verdict)
  else await requeueInOutage(state, mail, verdict)
}

/** The server throttles. The mail goes to the end, so that another one is tried next. */
async function requeueThrottled(state: DispatcherState, mail: WaitingMail, verdict: UnableVerdict): Promise<void> {
  const result = state.throttle.reduce(state.places.underWay())
  if (result.kind === 'tooLong') return requeueInOutage(state, mail, verdict)
  state.waiting.push(mail)
  if (result.kind === 'known') return
  const reason = withoutAddresses(verdict.reason)
  if (result.kind === 'first') state.log.warn({ reason, atOnce: result.atOnce }, 'the mail server accepts fewer concurrent mails')
  state.closeIdle()
}

async function requeueInOutage(state: DispatcherState, mail: WaitingMail, { about, reason }: UnableVerdict): Promise<void> {
  state.throttle.narrow()
  mail.wasTried = true
  state.waiting.push(mail)
  state.closeIdle()
  await state.outage.begin(about, reason)
}

/** Ends the outage if that can be recorded; otherwise the next probe ends it. */
async function endOutage({ outage, waiting, throttle }: DispatcherState): Promise<void> {
  if (!(await outage.end())) return
  for (const mail of waiting) mail.wasTried = false
  throttle.resume()
}

async function probe(state: DispatcherState): Promise<void> {
  if (state.isProbing) return
  state.isProbing = true
  // If the database is unavailable, mails keep waiting. Others report it.
  const mail = await takeProbe(state).catch(() => undefined)
  if (mail) startMail(state, mail, true)
  else state.isProbing = false
  if (state.outage.isOn()) scheduleCheck(state, POLL_MS)
  else startNext(state)
}

/** Takes the probe mail if this process may probe. */
async function takeProbe(state: DispatcherState): Promise<WaitingMail | undefined> {
  const { outage, waiting } = state
  if (!(await outage.exists())) await endOutage(state)
  else if (await outage.claimProbe()) {
    if (waiting.length > 0) return take(state)
    outage.keepProbe()
  }
  return undefined
}

const asSingleRefusal = ({ about, reason }: UnableVerdict): DispatchResult => ({
  kind: about === 'throttled' ? 'later' : 'doubtful',
  reason,
})

const CLOSED = 'The service was stopped before the mail could be sent.'
