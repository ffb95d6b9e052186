import { numberAuditEntries } from '../domain/audit/number-audit-entries.ts'
import { createAlarm } from '../domain/concurrency/alarm.ts'
import type { EventSequence, ServiceContext } from '../domain/context.ts'
import { numberEvents } from '../domain/events/number-events.ts'

/** Milliseconds for which events gather that are then numbered together. */
const GATHER_MS = 50
/** How often each process looks without having been told: others may have committed events, and ended. */
const LOOK_EVERY_MS = 500

export type Numbering = EventSequence & {
  /** Numbers what is there, and from now on what comes. @throws whatever the first look fails by. */
  start: (system: ServiceContext) => Promise<void>
  /** Has a follower of the feed told whenever there is more to read, by whichever process it was numbered. */
  follow: (tell: (head: bigint) => void) => void
  /** Numbers what was committed until now, and ends. */
  stop: () => Promise<void>
}

/** Numbers the events of all organizations, and the entries of their audit logs. Each process of the service does, and none has to. */
export function createNumbering(): Numbering {
  const followers: ((head: bigint) => void)[] = []
  let head = 0n
  const alarm = createAlarm(GATHER_MS)
  let stopped = false
  let running = Promise.resolve()

  async function look(system: ServiceContext): Promise<void> {
    const before = head
    head = await numberEvents(system)
    await numberAuditEntries(system)
    if (head !== before) for (const tell of followers) tell(head)
  }

  async function run(system: ServiceContext): Promise<void> {
    for (let failing = false; ; ) {
      await alarm.wait(LOOK_EVERY_MS)
      const isLast = stopped
      try {
        await look(system)
        failing = false
      } catch (error) {
        system.deps.metrics.numberingFailed()
        if (!failing) system.deps.log.error({ err: error }, 'events can not be numbered; this is tried again twice a second')
        failing = true
      }
      if (isLast) return
    }
  }

  return {
    recorded: alarm.ring,
    head: () => head,
    follow: (tell) => void followers.push(tell),
    async start(system) {
      await look(system)
      running = run(system)
    },
    async stop() {
      stopped = true
      alarm.ring()
      await running
    },
  }
}
