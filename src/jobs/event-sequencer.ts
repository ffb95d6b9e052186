import { sequenceAuditEntries } from '../domain/audit/sequence-audit-entries.ts'
import { createWakeSignal } from '../domain/concurrency/wake-signal.ts'
import type { ServiceContext } from '../domain/context.ts'
import { sequenceEvents } from '../domain/events/sequence-events.ts'
import type { EventSequence } from '../domain/ports/event-sequence.ts'

/** Events that arrive within this time are numbered together. */
const DEBOUNCE_MS = 50
/** Polling interval in milliseconds: another process may have committed events and ended before numbering them. */
const POLL_MS = 500

export type EventSequencer = EventSequence & {
  /** Numbers existing events, then keeps numbering. @throws the error of the first round. */
  start: (system: ServiceContext) => Promise<void>
  /** Calls `notify` with the new head when any process has sequenced new events. */
  onNewHead: (notify: (head: bigint) => void) => void
  /** Numbers everything committed so far, and ends. */
  stop: () => Promise<void>
}

/** Numbers the events and audit entries of all organizations. Every process does this, and any one of them is enough. */
export function createEventSequencer(): EventSequencer {
  const followers: ((head: bigint) => void)[] = []
  let head = 0n
  const wakeSignal = createWakeSignal(DEBOUNCE_MS)
  let stopped = false
  let running = Promise.resolve()

  async function numberNewEvents(system: ServiceContext): Promise<void> {
    const before = head
    head = await sequenceEvents(system)
    await sequenceAuditEntries(system)
    if (head !== before) for (const notify of followers) notify(head)
  }

  async function run(system: ServiceContext): Promise<void> {
    for (let failing = false; ; ) {
      await wakeSignal.wait(POLL_MS)
      const isLast = stopped
      try {
        await numberNewEvents(system)
        failing = false
      } catch (error) {
        system.deps.metrics.numberingFailed()
        if (!failing) system.deps.log.error({ err: error }, 'events cannot be numbered: retrying twice a second')
        failing = true
      }
      if (isLast) return
    }
  }

  return {
    recorded: wakeSignal.wake,
    head: () => head,
    onNewHead: (tell) => void followers.push(tell),
    async start(system) {
      await numberNewEvents(system)
      running = run(system)
    },
    async stop() {
      stopped = true
      wakeSignal.wake()
      await running
    },
  }
}
