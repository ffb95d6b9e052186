import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceContext } from '../domain/context.ts'
import { type TakenDelivery, takeDeliveries } from '../domain/webhooks/attempts.ts'
import { handOver } from '../domain/webhooks/hand-over.ts'
import { deliver } from './deliver.ts'
import type { Post } from './post.ts'

/** Attempts at a time, to all endpoints, that have not been under way for long. */
const AT_ONCE = 50
/** Milliseconds after which an attempt holds no place: endpoints that answer slowly, however many, hold up no other. */
const HOLDS_PLACE_MS = 500
/** Milliseconds. How often it looks without having been told: for retries that become due, and for what other processes have made. */
const LOOK_EVERY_MS = 1_000
/** Milliseconds that attempts under way have to end when the service stops. Others are made again after the next start. */
const GRACE_MS = 1_000

export type WebhookWorker = {
  /** There may be events to hand over, or deliveries to attempt. */
  wake: () => void
  stop: () => Promise<void>
}

/** Hands over events to the endpoints, and attempts the deliveries that this makes. Any number of processes may do so. */
export function startWebhooks(system: ServiceContext, post: Post): WebhookWorker {
  const underWay = new Set<Promise<void>>()
  const places = new Set<NodeJS.Timeout>()
  const busy = new Map<string, number>()
  const interrupt = new AbortController()
  let alarm = new AbortController()
  const stop = new AbortController()
  const wake = () => alarm.abort()

  function leave(place: NodeJS.Timeout): void {
    places.delete(place)
    wake()
  }

  function begin(taken: TakenDelivery): void {
    const { id } = taken.endpoint
    busy.set(id, (busy.get(id) ?? 0) + 1)
    const place = setTimeout(() => leave(place), HOLDS_PLACE_MS).unref()
    places.add(place)
    const attempt = deliver(system, post, taken, interrupt.signal)
      .catch((error) => system.deps.log.error({ err: error, endpointId: id }, 'what became of a delivery can not be recorded'))
      .finally(() => {
        const left = busy.get(id)! - 1
        if (left > 0) busy.set(id, left)
        else busy.delete(id)
        underWay.delete(attempt)
        clearTimeout(place)
        leave(place)
      })
    underWay.add(attempt)
  }

  /** As much as there is room for. */
  async function takeAll(): Promise<void> {
    while (!stop.signal.aborted && places.size < AT_ONCE) {
      const taken = await takeDeliveries(system, busy, AT_ONCE - places.size)
      if (!taken) return
      for (const one of taken) begin(one)
    }
  }

  async function work(): Promise<void> {
    let more = true
    while (more && !stop.signal.aborted) {
      try {
        more = (await handOver(system)).more
      } finally {
        await takeAll() // what is due does not wait for what can not be handed over
      }
    }
  }

  /** What it fails by is told once, until it succeeds again. */
  async function workOrTell(hasFailed: boolean): Promise<boolean> {
    try {
      await work()
      return false
    } catch (error) {
      if (!hasFailed) system.deps.log.error({ err: error }, 'webhooks can not be sent; this is tried again every second')
      return true
    }
  }

  async function run(): Promise<void> {
    for (let failed = false; !stop.signal.aborted; ) {
      alarm = new AbortController()
      failed = await workOrTell(failed)
      const until = failed ? stop.signal : alarm.signal
      await sleep(LOOK_EVERY_MS, undefined, { signal: until, ref: false }).catch(() => {})
    }
  }
  const running = run()

  return {
    wake,
    async stop() {
      stop.abort()
      wake()
      await running
      await Promise.race([Promise.all(underWay), sleep(GRACE_MS, undefined, { ref: false })])
      interrupt.abort()
      await Promise.all(underWay)
    },
  }
}
