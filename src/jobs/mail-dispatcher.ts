import type { Log } from '../domain/context.ts'
import { type Verdict, withoutAddresses } from '../domain/mails/mail-outage.ts'
import { createFairOrder, type FairOrder } from '../domain/work/fair-order.ts'
import { createPlaces, type Places } from '../domain/work/places.ts'
import { createOutage, type Outage, type OutageRecord } from './mail-outage-state.ts'
import { createPace, type Pace } from './mail-throttle.ts'
import type { Rank } from './mailing.ts'

/** Sends one mail; null if it need not be sent any more. */
export type Try = () => Promise<Verdict | null>
type Decided = Exclude<Verdict, { kind: 'unable' }> | { kind: 'doubtful'; reason: string } | null

export type Line = {
  /**
   * Sends the mail when its turn comes, and retries while the server takes no mails at all.
   *
   * @param group organization id: waiting groups share the server equally. @param rank lower ranks go first.
   * @returns the verdict; `doubtful` if the server may refuse this mail or all mails; null if the attempt returned null.
   * @throws Error if the dispatcher is closed.
   */
  join: (mail: { id: string; group: string; rank: Rank }, attempt: Try) => Promise<Decided>
  /** Most mails sent at a time. */
  width: number
  /** True while mails wait because the server takes none. */
  stands: () => boolean
  close: () => void
}

type Unable = Verdict & { kind: 'unable' }

type Waiting = {
  id: string
  group: string
  rank: Rank
  wasTried: boolean
  attempt: Try
  settle: (outcome: Decided) => void
  fail: (error: Error) => void
}

/** A mail that takes longer than this no longer counts towards the concurrency limit, so slow recipients don't block others. */
const HOLDS_PLACE_MS = 10_000
/** After this many consecutive refusals of different mails, the refusals are taken to concern the service and not one mail. */
const DOUBTS = 3
/** Interval between checks whether a probe is due, or another process's probe has passed. */
const LOOK_EVERY_MS = 1_000

type State = {
  log: Log
  /** Closes idle connections. */
  rest: () => void
  waiting: Waiting[]
  places: Places
  order: FairOrder
  pace: Pace
  outage: Outage
  /** Ids of mails refused since the last accepted one. */
  doubts: Set<string>
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
export function createLine(
  record: OutageRecord,
  log: Log,
  { width, perMinute, rest }: { width: number; perMinute: number; rest: () => void },
): Line {
  const line: State = {
    log,
    rest,
    waiting: [],
    places: createPlaces(HOLDS_PLACE_MS, () => pump(line)),
    order: createFairOrder(),
    pace: createPace(width, perMinute),
    outage: createOutage(record, log),
    doubts: new Set(),
    isProbing: false,
    isClosed: false,
  }
  return {
    join: ({ id, group, rank }, attempt) =>
      new Promise((settle, fail) => {
        if (line.isClosed) return fail(new Error(CLOSED))
        line.waiting.push({ id, group, rank, wasTried: false, attempt, settle, fail })
        pump(line)
      }),
    width,
    stands: line.outage.isOn,
    close() {
      line.isClosed = true
      clearTimeout(line.timer)
      for (const { fail } of line.waiting.splice(0)) fail(new Error(CLOSED))
    },
  }
}

function lookAgain(line: State, ms: number): void {
  clearTimeout(line.timer)
  line.timer = setTimeout(() => pump(line), ms).unref()
}

function pump(line: State): void {
  const { waiting, places, pace, outage, isClosed } = line
  if (isClosed || waiting.length === 0) return
  if (outage.isOn()) void probe(line)
  else
    while (waiting.length > 0 && pace.hasRoom(places.taken(), places.underWay()) && isTime(line)) begin(line, take(line), false)
}

/** True if the next mail may start now; otherwise schedules another check. */
function isTime(line: State): boolean {
  const pause = line.pace.pauseBeforeNext()
  if (pause > 0) lookAgain(line, pause)
  return pause === 0
}

/** Takes the next mail by: not yet tried in this outage, rank, fair share of its group, order of arrival. */
function take({ waiting, places, order }: State): Waiting {
  const countOf = (group: string) => places.byGroup.get(group) ?? 0
  const compare = (one: Waiting, other: Waiting) =>
    Number(one.wasTried) - Number(other.wasTried) || one.rank - other.rank || order.compare(one.group, other.group, countOf)
  let best = 0
  for (let i = 1; i < waiting.length; i++) if (compare(waiting[i]!, waiting[best]!) < 0) best = i
  const [mail] = waiting.splice(best, 1)
  order.takeTurn(mail!.group)
  return mail!
}

function begin(line: State, mail: Waiting, isProbe: boolean): void {
  const attempt = mail.attempt().then(
    (verdict) => conclude(line, mail, verdict, isProbe),
    (error: Error) => {
      if (isProbe) line.outage.keepTurn()
      mail.fail(error)
    },
  )
  const ended = attempt.finally(() => {
    if (isProbe) line.isProbing = false
  })
  line.places.begin([mail.group], ended)
}

async function conclude(line: State, mail: Waiting, verdict: Verdict | null, isProbe: boolean): Promise<void> {
  const { outage, pace, doubts } = line
  if (verdict === null) {
    if (isProbe) outage.keepTurn()
    mail.settle(null)
  } else if (verdict.kind === 'unable') await wait(line, mail, verdict)
  else {
    doubts.clear()
    // During an outage only a probe proves recovery: other mails may have used an older connection.
    if (!outage.isOn()) pace.widen()
    else if (isProbe) await resume(line)
    mail.settle(verdict)
  }
}

async function wait(line: State, mail: Waiting, verdict: Unable): Promise<void> {
  if (line.isClosed) mail.fail(new Error(CLOSED))
  else if (line.outage.isOn()) await stand(line, mail, verdict)
  else if (!verdict.isCertain && line.doubts.add(mail.id).size < DOUBTS) mail.settle(asMeantAlone(verdict))
  else if (verdict.about === 'throttled') await easeOff(line, mail, verdict)
  else await stand(line, mail, verdict)
}

/** The server throttles. The mail goes to the end, so that another one is tried next. */
async function easeOff(line: State, mail: Waiting, verdict: Unable): Promise<void> {
  const eased = line.pace.easeOff(line.places.underWay())
  if (eased.told === 'tooLong') return stand(line, mail, verdict)
  line.waiting.push(mail)
  if (eased.told === 'known') return
  const reason = withoutAddresses(verdict.reason)
  if (eased.told === 'first') line.log.warn({ reason, atOnce: eased.atOnce }, 'the mail server wants fewer mails at a time')
  line.rest()
}

async function stand(line: State, mail: Waiting, { about, reason }: Unable): Promise<void> {
  line.pace.narrow()
  mail.wasTried = true
  line.waiting.push(mail)
  line.rest()
  await line.outage.begin(about, reason)
}

/** Ends the outage if that can be recorded; otherwise the next probe ends it. */
async function resume({ outage, waiting, pace }: State): Promise<void> {
  if (!(await outage.end())) return
  for (const mail of waiting) mail.wasTried = false
  pace.resume()
}

async function probe(line: State): Promise<void> {
  if (line.isProbing) return
  line.isProbing = true
  // If the database is unavailable, mails keep waiting. Others report it.
  const mail = await takeProbe(line).catch(() => undefined)
  if (mail) begin(line, mail, true)
  else line.isProbing = false
  if (line.outage.isOn()) lookAgain(line, LOOK_EVERY_MS)
  else pump(line)
}

/** Takes the probe mail if this process may probe. */
async function takeProbe(line: State): Promise<Waiting | undefined> {
  const { outage, waiting } = line
  if (!(await outage.exists())) await resume(line)
  else if (await outage.claimTurn()) {
    if (waiting.length > 0) return take(line)
    outage.keepTurn()
  }
  return undefined
}

const asMeantAlone = ({ about, reason }: Unable): Decided => ({ kind: about === 'throttled' ? 'later' : 'doubtful', reason })

const CLOSED = 'The service was stopped before the mail could be sent.'
