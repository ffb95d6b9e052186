import { setTimeout as sleep } from 'node:timers/promises'
import { createAlarm } from '../domain/concurrency/alarm.ts'
import { createFairOrder } from '../domain/concurrency/fair-order.ts'
import { createPlaces } from '../domain/concurrency/places.ts'
import type { ServiceContext } from '../domain/context.ts'
import type { DueSendings } from '../domain/webhooks/due-sendings.ts'
import { deal, groupsOf } from './deal.ts'

/** Places: attempts at a time, to all receivers, that have not been under way for long. */
const AT_ONCE = 50
/** Of them, those for receivers that fail. */
const FAILING_SHARE = 10
/** Milliseconds after which an attempt holds no place: receivers that answer slowly, however many, hold up no other. */
const HOLDS_PLACE_MS = 500
/** Milliseconds. How often it looks without having been told: for retries that become due, and for what other processes have made. */
const LOOK_EVERY_MS = 1_000
/** Milliseconds in which attempts come to their end that are then followed by as many others: one statement takes them all. */
const GATHER_MS = 10
/** Milliseconds that attempts under way have to end when the service stops. Others are made again after the next start. */
const GRACE_MS = 1_000

/** What is sent. */
export type Sendings<Taken> = {
  /** What it is called in the log. */
  name: 'webhooks' | 'reports to applicant tracking systems'
  /** Makes sendings of events, one step. @returns whether there may be more. */
  handOver: () => Promise<{ more: boolean }>
  /** Finds the receivers that something is due to. @param most how many of each to count at most. */
  findDue: (most: number) => Promise<DueSendings[]>
  /** How many sendings to the receiver may be under way. */
  limitOf: (due: DueSendings) => number
  /** Takes what was granted. @returns also whether to look again at once. */
  take: (granted: readonly DueSendings[]) => Promise<{ taken: Taken[]; more: boolean }>
  receiverOf: (taken: Taken) => string
  /** One attempt, recorded. */
  attempt: (taken: Taken, stop: AbortSignal) => Promise<void>
}

export type SendingWorker = {
  /** There may be events to hand over, or sendings to attempt. */
  wake: () => void
  stop: () => Promise<void>
}

/** Hands over events, and attempts what that makes. Any number of processes may do so. */
export function sendDue<Taken>({ deps }: ServiceContext, sendings: Sendings<Taken>): SendingWorker {
  const { name, handOver, findDue, limitOf, take, receiverOf, attempt } = sendings
  const interrupt = new AbortController()
  const alarm = createAlarm(GATHER_MS)
  const places = createPlaces(HOLDS_PLACE_MS, alarm.ring)
  const order = createFairOrder()
  const roomOf = (due: DueSendings) => limitOf(due) - (places.byGroup.get(due.receiverId) ?? 0)
  const stop = new AbortController()
  let isTold = false
  let handedOverAt = -Infinity

  function wake(): void {
    isTold = true
    alarm.ring()
  }

  async function attemptOrTell(taken: Taken): Promise<void> {
    try {
      await attempt(taken, interrupt.signal)
    } catch (error) {
      deps.log.error({ err: error, receiver: receiverOf(taken) }, `what became of a sending of ${name} can not be recorded`)
    }
  }

  /** Fills the free places. */
  async function takeAll(): Promise<void> {
    for (let more = true; more && !stop.signal.aborted && places.taken() < AT_ONCE; ) {
      const free = AT_ONCE - places.taken()
      const granted = deal(await findDue(free), free, { order, heldBy: places.heldBy, failingShare: FAILING_SHARE, roomOf })
      if (granted.length === 0) return
      const groups = new Map(granted.map((one) => [one.receiverId, groupsOf(one)]))
      const found = await take(granted)
      for (const taken of found.taken) places.begin(groups.get(receiverOf(taken))!, attemptOrTell(taken))
      more = found.more
    }
  }

  /** Looks for events when it is told, and every so often, however many attempts come to their end meanwhile. */
  async function work(): Promise<void> {
    let more = isTold || performance.now() - handedOverAt >= LOOK_EVERY_MS
    if (more) {
      isTold = false
      handedOverAt = performance.now()
    }
    do {
      try {
        if (more) ({ more } = await handOver())
      } finally {
        await takeAll() // what is due does not wait for what can not be handed over
      }
    } while (more && !stop.signal.aborted)
  }

  /** What it fails by is told once, until it succeeds again. */
  async function workOrTell(hasFailed: boolean): Promise<boolean> {
    try {
      await work()
      return false
    } catch (error) {
      if (!hasFailed) deps.log.error({ err: error }, `${name} can not be sent; this is tried again every second`)
      return true
    }
  }

  async function run(): Promise<void> {
    for (let failed = false; !stop.signal.aborted; ) {
      failed = await workOrTell(failed)
      if (failed) await sleep(LOOK_EVERY_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {})
      else await alarm.wait(LOOK_EVERY_MS)
    }
  }
  const running = run()

  return {
    wake,
    async stop() {
      stop.abort()
      alarm.ring()
      await running
      await Promise.race([places.settled(), sleep(GRACE_MS, undefined, { ref: false })])
      interrupt.abort()
      await places.settled()
    },
  }
}
