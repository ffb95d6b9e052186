import type { PgBoss } from 'pg-boss'
import { forgetOldSignIns } from '../domain/access/forget-sign-ins.ts'
import { forgetOldAuditEntries } from '../domain/audit.ts'
import { type ServiceContext, SWEEP_PARTS, type SweepPart } from '../domain/context.ts'
import { forgetOldEvents } from '../domain/events/forget.ts'
import { noticeRestore } from '../domain/events/restored.ts'
import { forgetOldAnswers } from '../domain/idempotency.ts'
import { forgetOldBatches } from '../domain/invites/batches/batches.ts'
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
  notice_restore: noticeRestore,
  forget_answers: forgetOldAnswers,
  forget_events: (system, { eventsKeptDays }) => forgetOldEvents(system, eventsKeptDays),
  forget_deliveries: (system, { eventsKeptDays }) => forgetOldDeliveries(system, eventsKeptDays),
  forget_audit_entries: forgetOldAuditEntries,
  forget_batches: forgetOldBatches,
  forget_sign_ins: forgetOldSignIns,
}

/** Every minute, in one of the processes: sets due invites to expired, and deletes what has expired or is kept no longer. */
export async function startSweep(boss: PgBoss, system: ServiceContext, retention: Retention): Promise<void> {
  await boss.createQueue(SWEEP, { retryLimit: 0, deleteAfterSeconds: 3_600 })
  await boss.work(SWEEP, async () => {
    for (const part of SWEEP_PARTS) await sweep(system, part, retention)
  })
  await boss.schedule(SWEEP, '* * * * *')
}

/** Runs one part. A failure does not stop the others; the part runs again in the next minute. */
async function sweep(system: ServiceContext, part: SweepPart, retention: Retention): Promise<void> {
  try {
    await parts[part](system, retention)
    system.deps.metrics.swept(part, 'done')
  } catch (error) {
    system.deps.metrics.swept(part, 'failed')
    system.deps.log.error({ err: error, part }, 'a part of the sweep failed')
  }
}
