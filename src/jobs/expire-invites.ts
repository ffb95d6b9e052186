import type { PgBoss } from 'pg-boss'
import type { Deps } from '../domain/context.ts'
import { forgetOldAnswers } from '../domain/idempotency.ts'
import { expireAllDueInvites } from '../domain/invite-lifecycle.ts'

const SWEEP = 'sweep'

/** Every minute: flips the invites the clock has ended, and forgets the answers no retry may ask for. One process of all does it. */
export async function workSweep(boss: PgBoss, deps: Deps): Promise<void> {
  await boss.createQueue(SWEEP, { retryLimit: 0, deleteAfterSeconds: 3_600 })
  await boss.work(SWEEP, async () => {
    const expired = await expireAllDueInvites(deps)
    await forgetOldAnswers(deps)
    if (expired > 0) deps.log.info({ expired }, 'invites expired')
  })
  await boss.schedule(SWEEP, '* * * * *')
}
