import { createFairOrder, type FairOrder } from '../domain/concurrency/fair-order.ts'
import { createPlaces, type Places } from '../domain/concurrency/places.ts'
import type { Log } from '../domain/context.ts'
import { type Verdict, withoutAddresses } from '../domain/mails/mail-outage.ts'
import type { Rank } from './mailing.ts'
import { createOutage, type Outage, type OutageRecord } from './outage.ts'
import { createPace, type Pace } from './pace.ts'

/** One try to hand a mail over, or null when there is nothing to hand over any more. */
export type Try = () => Promise<Verdict | null>
type Decided = Exclude<Verdict, { kind: 'unable' }> | { kind: 'doubtful'; reason: string } | null

export type Line = {
  /**
   * Has the mail handed over when it is its turn, again and again while the server takes no mails at all.
   *
   * @param group whose mail it is: where several wait, each gets as much. @param rank those of a lower one go first.
   * @returns what became of it; `doubtful`, where the server may not want this mail or may not want any; null as the try says.
   * @throws Error when the line is closed.
   */
  join: (mail: { id: string; group: string; rank: Rank }, attempt: Try) => Promise<Decided>
  /** Mails handed over at a time, at most. */
  width: number
  /** Whether mails wait for the server to take any. */
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

/** Milliseconds after which a mail that is being handed over holds no place: a server that takes long over some is not held up by them. */
const HOLDS_PLACE_MS = 10_000
/** Refusals of different mails, one after the other, that may be meant for each alone; then they are meant for the service. */
const DOUBTS = 3
/** Milliseconds between two looks whether it is time for a probe, or another process has made one that passed. */
const LOOK_EVERY_MS = 1_000

/** What a line has: who waits, who is under way, and what it knows of the mail server. */
type State = {
  log: Log
  /** Ends connections that nobody uses. */
  rest: () => void
  waiting: Waiting[]
  places: Places
  order: FairOrder
  pace: Pace
  outage: Outage
  /** The mails that were refused since one was taken, of which it may be that each was meant alone. */
  doubts: Set<string>
  isProbing: boolean
  isClosed: boolean
  timer?: NodeJS.Timeout
}

/**
 * Decides when which mail goes to the mail server: one at first, then as many as it takes; fewer where it asks for fewer; and none but one
 * probe for all while it takes none. A mail whose handing over fails for no fault of its own stays in the line.
 *
 * @param width mails at a time, at most. @param perMinute 0: as many as go.
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

/** Whether the next may begin now; else it is looked again when it may. */
function isTime(line: State): boolean {
  const pause = line.pace.pauseBeforeNext()
  if (pause > 0) lookAgain(line, pause)
  return pause === 0
}

/** Takes the next mail: in an outage, one that was not tried in it; of the lowest rank; of the group whose turn it is; the first. */
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
    // In an outage only a probe tells that it is over: others may have gone over a connection from before.
    if (!outage.isOn()) pace.widen()
    else if (isProbe) await resume(line)
    mail.settle(verdict)
  }
}

/** What has to wait through no fault of its own. */
async function wait(line: State, mail: Waiting, verdict: Unable): Promise<void> {
  if (line.isClosed) mail.fail(new Error(CLOSED))
  else if (line.outage.isOn()) await stand(line, mail, verdict)
  else if (!verdict.isCertain && line.doubts.add(mail.id).size < DOUBTS) mail.settle(asMeantAlone(verdict))
  else if (verdict.about === 'throttled') await easeOff(line, mail, verdict)
  else await stand(line, mail, verdict)
}

/** The server wants fewer mails at a time, or a minute. The next that is tried is another mail, where there is one. */
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

/** It is over, where that could be recorded: else the next probe ends it. */
async function resume({ outage, waiting, pace }: State): Promise<void> {
  if (!(await outage.end())) return
  for (const mail of waiting) mail.wasTried = false
  pace.resume()
}

async function probe(line: State): Promise<void> {
  if (line.isProbing) return
  line.isProbing = true
  // The database may be away, which others report: the line stands until it is back.
  const mail = await takeProbe(line).catch(() => undefined)
  if (mail) begin(line, mail, true)
  else line.isProbing = false
  if (line.outage.isOn()) lookAgain(line, LOOK_EVERY_MS)
  else pump(line)
}

/** The mail that is to be tried for all, if it is this process's turn. */
async function takeProbe(line: State): Promise<Waiting | undefined> {
  const { outage, waiting } = line
  if (!(await outage.exists())) await resume(line)
  else if (await outage.claimTurn()) {
    if (waiting.length > 0) return take(line)
    outage.keepTurn()
  }
  return undefined
}

/** As one mail's own. */
const asMeantAlone = ({ about, reason }: Unable): Decided => ({ kind: about === 'throttled' ? 'later' : 'doubtful', reason })

const CLOSED = 'The service was stopped before the mail could be sent.'
