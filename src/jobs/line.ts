import type { Log } from '../domain/context.ts'
import { type OutageCause, type Verdict, withoutAddresses } from '../domain/mails/mail-outage.ts'
import { createPace } from './pace.ts'

/** What the line keeps where all processes see it: that the mail server takes nothing at present. */
export type OutageRecord = {
  /** Whether there is an outage. */
  exists: () => Promise<boolean>
  /** There is one. @returns whether nobody has known of it before. */
  begin: (about: OutageCause, reason: string) => Promise<boolean>
  /** Takes the one turn that all processes have between them until the next pause is over. @returns whether it was there to be taken. */
  claimProbe: () => Promise<boolean>
  /** A mail has passed. @returns whether there was an outage until now. */
  end: () => Promise<boolean>
}

/** One try to hand a mail over, or null when there is nothing to hand over any more. */
export type Try = () => Promise<Verdict | null>
type Decided = Exclude<Verdict, { kind: 'unable' }> | { kind: 'doubtful'; reason: string } | null

export type Line = {
  /**
   * Has the mail handed over when it is its turn, again and again while the server takes no mails at all.
   *
   * @param group whose mail it is: where several wait, each gets as much.
   * @returns what became of it; `doubtful`, where the server may not want this mail or may not want any; null as the try says.
   * @throws Error when the line is closed.
   */
  join: (mail: { id: string; group: string; isUrgent: boolean }, attempt: Try) => Promise<Decided>
  /** Whether mails wait for the server to take any. */
  stands: () => boolean
  close: () => void
}

type Unable = Verdict & { kind: 'unable' }

type Waiting = {
  id: string
  group: string
  isUrgent: boolean
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

/**
 * Decides when which mail goes to the mail server: one at first, then as many as it takes; fewer where it asks for fewer; and none but one
 * probe for all while it takes none. A mail whose handing over fails for no fault of its own stays in the line.
 *
 * @param width mails at a time, at most. @param perMinute 0: as many as go.
 */
export function createLine(
  record: OutageRecord,
  log: Log,
  { width: widest, perMinute, rest }: { width: number; perMinute: number; rest: () => void },
): Line {
  const waiting: Waiting[] = []
  const groups = new Map<string, number>()
  let places = 0
  let underWay = 0
  const pace = createPace(widest, perMinute)
  /** The mails that were refused since one was taken, of which it may be that each was meant alone. */
  const doubts = new Set<string>()
  /** Until it has looked, it does not know better. */
  let isOut = true
  let isProbing = false
  /** A probe was claimed, and used for no try. */
  let hasClaim = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  function lookAgain(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(pump, ms).unref()
  }

  function pump(): void {
    if (isClosed || waiting.length === 0) return
    if (isOut) void probe()
    else while (waiting.length > 0 && pace.hasRoom(places, underWay) && isTime()) begin(take(), false)
  }

  /** Whether the next may begin now; else it is looked again when it may. */
  function isTime(): boolean {
    const pause = pace.pauseBeforeNext()
    if (pause > 0) lookAgain(pause)
    return pause === 0
  }

  /** The mail of those of whom the fewest are under way; of these the first. In an outage, one that was not tried in it. */
  function take(): Waiting {
    const burden = ({ group, isUrgent, wasTried }: Waiting) =>
      (wasTried ? 1e9 : 0) + (isUrgent ? 0 : 1e6) + (groups.get(group) ?? 0)
    let best = 0
    for (let i = 1; i < waiting.length; i++) if (burden(waiting[i]!) < burden(waiting[best]!)) best = i
    return waiting.splice(best, 1)[0]!
  }

  function begin(mail: Waiting, isProbe: boolean): void {
    places++
    underWay++
    groups.set(mail.group, (groups.get(mail.group) ?? 0) + 1)
    let holds = true
    const leavePlace = () => {
      if (holds) places--
      holds = false
      pump()
    }
    const place = setTimeout(leavePlace, HOLDS_PLACE_MS).unref()
    mail
      .attempt()
      .then(
        (verdict) => conclude(mail, verdict, isProbe),
        (error: Error) => {
          hasClaim ||= isProbe
          mail.fail(error)
        },
      )
      .finally(() => {
        clearTimeout(place)
        underWay--
        const left = groups.get(mail.group)! - 1
        if (left > 0) groups.set(mail.group, left)
        else groups.delete(mail.group)
        if (isProbe) isProbing = false
        leavePlace()
      })
  }

  async function conclude(mail: Waiting, verdict: Verdict | null, isProbe: boolean): Promise<void> {
    if (verdict === null) {
      hasClaim ||= isProbe
      mail.settle(null)
    } else if (verdict.kind === 'unable') await wait(mail, verdict)
    else {
      doubts.clear()
      // In an outage only a probe tells that it is over: others may have gone over a connection from before.
      if (!isOut) pace.widen()
      else if (isProbe) await resume()
      mail.settle(verdict)
    }
  }

  /** What has to wait through no fault of its own. */
  async function wait(mail: Waiting, verdict: Unable): Promise<void> {
    if (isClosed) mail.fail(new Error(CLOSED))
    else if (isOut) await stand(mail, verdict)
    else if (!verdict.isCertain && doubts.add(mail.id).size < DOUBTS) mail.settle(asMeantAlone(verdict))
    else if (verdict.about === 'throttled') await easeOff(mail, verdict)
    else await stand(mail, verdict)
  }

  /** The server wants fewer mails at a time, or a minute. The next that is tried is another mail, where there is one. */
  async function easeOff(mail: Waiting, verdict: Unable): Promise<void> {
    const eased = pace.easeOff(underWay)
    if (eased.told === 'tooLong') return stand(mail, verdict)
    waiting.push(mail)
    if (eased.told === 'known') return
    if (eased.told === 'first')
      log.warn({ reason: withoutAddresses(verdict.reason), atOnce: eased.atOnce }, 'the mail server wants fewer mails at a time')
    rest()
  }

  async function stand(mail: Waiting, { about, reason }: Unable): Promise<void> {
    isOut = true
    pace.narrow()
    mail.wasTried = true
    waiting.push(mail)
    rest()
    try {
      if (await record.begin(about, reason))
        log.error({ about, reason: withoutAddresses(reason) }, 'the mail server takes no mails: they wait until it does')
    } catch (error) {
      log.error({ err: error }, UNRECORDED)
    }
  }

  async function resume(): Promise<void> {
    try {
      if (await record.end()) log.info({}, 'the mail server takes mails again')
    } catch (error) {
      return log.error({ err: error }, UNRECORDED) // the next probe ends it
    }
    isOut = false
    for (const mail of waiting) mail.wasTried = false
    pace.resume()
  }

  async function probe(): Promise<void> {
    if (isProbing) return
    isProbing = true
    // The database may be away, which others report: the line stands until it is back.
    const mail = await takeProbe().catch(() => undefined)
    if (mail) begin(mail, true)
    else isProbing = false
    if (isOut) lookAgain(LOOK_EVERY_MS)
    else pump()
  }

  /** The mail that is to be tried for all, if it is this process's turn. */
  async function takeProbe(): Promise<Waiting | undefined> {
    if (!(await record.exists())) await resume()
    else if (hasClaim || (await record.claimProbe())) {
      hasClaim = waiting.length === 0
      return hasClaim ? undefined : take()
    }
    return undefined
  }

  return {
    join: ({ id, group, isUrgent }, attempt) =>
      new Promise((settle, fail) => {
        if (isClosed) return fail(new Error(CLOSED))
        waiting.push({ id, group, isUrgent, wasTried: false, attempt, settle, fail })
        pump()
      }),
    stands: () => isOut,
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const { fail } of waiting.splice(0)) fail(new Error(CLOSED))
    },
  }
}

/** As one mail's own. */
const asMeantAlone = ({ about, reason }: Unable): Decided => ({ kind: about === 'throttled' ? 'later' : 'doubtful', reason })

const UNRECORDED = 'whether the mail server takes mails could not be recorded'
const CLOSED = 'The service was stopped before the mail could be sent.'
