import type { PgBoss } from 'pg-boss'
import { type ServiceContext, SWEEP_PARTS, type SweepPart } from '../domain/context.ts'
import { forgetOldEvents } from '../domain/events/forget.ts'
import { forgetOldAnswers } from '../domain/idempotency.ts'
import { expireAllDueInvites } from '../domain/invites/lifecycle.ts'
import { forgetOldDeliveries } from '../domain/webhooks/forget.ts'

const SWEEP = 'sweep'

/** How long things are kept. */
type Retention = { eventsKeptDays: number }

const parts: Record<SweepPart, (system: ServiceContext, retention: Retention) => Promise<void>> = {
  async expire_invites(system) {
    const expired = await expireAllDueInvites(system)
    if (expired > 0) system.deps.log.info({ expired }, 'invites expired')
  },
  forget_answers: forgetOldAnswers,
  forget_events: (system, { eventsKeptDays }) => forgetOldEvents(system, eventsKeptDays),
  forget_deliveries: (system, { eventsKeptDays }) => forgetOldDeliveries(system, eventsKeptDays),
}

/**
 * Every minute: flips the invites the clock has ended, and forgets the answers no retry may ask for and the events that are too old. One
 * process of all does it.
 */
export async function startSweep(boss: PgBoss, system: ServiceContext, retention: Retention): Promise<void> {
  await boss.createQueue(SWEEP, { retryLimit: 0, deleteAfterSeconds: 3_600 })
  await boss.work(SWEEP, async () => {
    for (const part of SWEEP_PARTS) await sweep(system, part, retention)
  })
  await boss.schedule(SWEEP, '* * * * *')
}

/** One part. What it fails by keeps no other from its turn; the next minute tries again. */
async function sweep(system: ServiceContext, part: SweepPart, retention: Retention): Promise<void> {
  try {
    await parts[part](system, retention)
    system.deps.metrics.swept(part, 'done')
  } catch (error) {
    system.deps.metrics.swept(part, 'failed')
    system.deps.log.error({ err: error, part }, 'a part of the sweep failed')
  }
}
