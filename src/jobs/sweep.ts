import type { PgBoss } from 'pg-boss'
import { type Deps, SWEEP_PARTS, type SweepPart } from '../domain/context.ts'
import { forgetOldAnswers } from '../domain/idempotency.ts'
import { expireAllDueInvites } from '../domain/invites/lifecycle.ts'

const SWEEP = 'sweep'

const parts: Record<SweepPart, (deps: Deps) => Promise<void>> = {
  async expire_invites(deps) {
    const expired = await expireAllDueInvites(deps)
    if (expired > 0) deps.log.info({ expired }, 'invites expired')
  },
  forget_answers: forgetOldAnswers,
}

/** Every minute: flips the invites the clock has ended, and forgets the answers no retry may ask for. One process of all does it. */
export async function workSweep(boss: PgBoss, deps: Deps): Promise<void> {
  await boss.createQueue(SWEEP, { retryLimit: 0, deleteAfterSeconds: 3_600 })
  await boss.work(SWEEP, async () => {
    for (const part of SWEEP_PARTS) await sweep(deps, part)
  })
  await boss.schedule(SWEEP, '* * * * *')
}

/** One part. What it fails by keeps no other from its turn; the next minute tries again. */
async function sweep(deps: Deps, part: SweepPart): Promise<void> {
  try {
    await parts[part](deps)
    deps.metrics.swept(part, 'done')
  } catch (error) {
    deps.metrics.swept(part, 'failed')
    deps.log.error({ err: error, part }, 'a part of the sweep failed')
  }
}
