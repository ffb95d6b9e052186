import { setTimeout as sleep } from 'node:timers/promises'
import { createConcurrencySlots } from '../domain/concurrency/concurrency-slots.ts'
import { createFairOrder } from '../domain/concurrency/fair-order.ts'
import { createWakeSignal } from '../domain/concurrency/wake-signal.ts'
import type { ServiceContext } from '../domain/context.ts'
import type { DueSendings } from '../domain/webhooks/due-sendings.ts'
import { assignPlaces, groupsOf } from './assign-places.ts'

/** Concurrent attempts to all receivers, without slow ones. */
const MAX_IN_PROGRESS = 50
/** Share of AT_ONCE for failing receivers. */
const FAILING_SHARE = 10
/** Milliseconds after which an attempt no longer counts towards AT_ONCE, so that slow receivers don't block others. */
const SLOW_AFTER_MS = 500
/** Polling interval in milliseconds, for due retries and work created by other processes. */
const POLL_MS = 1_000
/** Milliseconds to collect finished attempts, so that one statement takes the next ones. */
const DEBOUNCE_MS = 10
/** Milliseconds for attempts in progress to finish on stop. Others are repeated after the next start. */
const GRACE_MS = 1_000

export type SendingSource<Taken> = {
  /** Name in log lines. */
  name: 'webhooks' | 'reports to ATS'
  /** Turns one batch of events into sendings. @returns whether there may be more. */
  createSendings: () => Promise<{ more: boolean }>
  /** Finds receivers with due sendings. @param most largest number to count per receiver. */
  findDue: (most: number) => Promise<DueSendings[]>
  /** Concurrency limit of the receiver. */
  limitOf: (due: DueSendings) => number
  /** Claims the granted sendings. @returns also whether to look again at once. */
  claim: (granted: readonly DueSendings[]) => Promise<{ taken: Taken[]; more: boolean }>
  receiverOf: (taken: Taken) => string
  /** Attempts one sending and records the result. */
  attempt: (taken: Taken, stop: AbortSignal) => Promise<void>
}

export type SendingWorker = {
  /** Signals that there may be new events or due sendings. */
  wake: () => void
  stop: () => Promise<void>
}

/** Starts a worker that turns events into sendings and attempts them. Any number of processes may run it. */
export function startSendingWorker<Taken>({ deps }: ServiceContext, sendings: SendingSource<Taken>): SendingWorker {
  const { name, createSendings, findDue, limitOf, claim, receiverOf, attempt } = sendings
  const interrupt = new AbortController()
  const wakeSignal = createWakeSignal(DEBOUNCE_MS)
  const places = createConcurrencySlots(SLOW_AFTER_MS, wakeSignal.wake)
  const order = createFairOrder()
  const roomOf = (due: DueSendings) => limitOf(due) - (places.byGroup.get(due.receiverId) ?? 0)
  const stop = new AbortController()
  let hasNewEvents = false
  let createdAt = -Infinity

  function wake(): void {
    hasNewEvents = true
    wakeSignal.wake()
  }

  async function attemptSafely(taken: Taken): Promise<void> {
    try {
      await attempt(taken, interrupt.signal)
    } catch (error) {
      deps.log.error({ err: error, receiver: receiverOf(taken) }, `the result of sending ${name} cannot be recorded`)
    }
  }

  async function fillPlaces(): Promise<void> {
    for (let more = true; more && !stop.signal.aborted && places.taken() < MAX_IN_PROGRESS; ) {
      const free = MAX_IN_PROGRESS - places.taken()
      const granted = assignPlaces(await findDue(free), free, {
        order,
        heldBy: places.heldBy,
        failingShare: FAILING_SHARE,
        roomOf,
      })
      if (granted.length === 0) return
      const groups = new Map(granted.map((one) => [one.receiverId, groupsOf(one)]))
      const found = await claim(granted)
      for (const taken of found.taken) places.begin(groups.get(receiverOf(taken))!, attemptSafely(taken))
      more = found.more
    }
  }

  /** Reads events when woken, and at least every LOOK_EVERY_MS even while attempts keep ending. */
  async function work(): Promise<void> {
    let more = hasNewEvents || performance.now() - createdAt >= POLL_MS
    if (more) {
      hasNewEvents = false
      createdAt = performance.now()
    }
    do {
      try {
        if (more) ({ more } = await createSendings())
      } finally {
        await fillPlaces() // due sendings go out even if no new ones can be made
      }
    } while (more && !stop.signal.aborted)
  }

  /** Logs the first failure in a row. */
  async function workSafely(hasFailed: boolean): Promise<boolean> {
    try {
      await work()
      return false
    } catch (error) {
      if (!hasFailed) deps.log.error({ err: error }, `${name} cannot be sent: retrying each second`)
      return true
    }
  }

  async function run(): Promise<void> {
    for (let failed = false; !stop.signal.aborted; ) {
      failed = await workSafely(failed)
      if (failed) await sleep(POLL_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {})
      else await wakeSignal.wait(POLL_MS)
    }
  }
  const running = run()

  return {
    wake,
    async stop() {
      stop.abort()
      wakeSignal.wake()
      await running
      await Promise.race([places.settled(), sleep(GRACE_MS, undefined, { ref: false })])
      interrupt.abort()
      await places.settled()
    },
  }
}
