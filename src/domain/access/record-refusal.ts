import { LRUCache } from 'lru-cache'
import { recordAudit } from '../audit/record-audit.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { HOUR_MS } from '../values/days.ts'
import { spend } from './spent-proofs.ts'

/** What somebody was refused for: what they may not do, what their key is not restricted to, or where they come from. */
export type Refusal = 'permission' | 'scope' | 'network'

/** Refusals that this process knows to be recorded: whoever tries on and on costs no statement each time. */
const recorded = new LRUCache<string, true>({ max: 10_000 })

/**
 * Records that a member, or an API key, was refused: once an hour for each and each reason, over all processes. Not awaited by the request:
 * it is refused, whatever becomes of this.
 */
export async function recordRefusal(ctx: Context, what: Refusal): Promise<void> {
  const { actor, organization, deps } = ctx
  if (actor.kind !== 'member' && actor.kind !== 'apiKey') return
  const hour = Math.floor(deps.clock().getTime() / HOUR_MS)
  const key = `refusal ${organization.id} ${actor.id} ${what} ${hour}`
  if (recorded.has(key)) return
  recorded.set(key, true)
  try {
    await inTransaction(ctx, async (inside) => {
      if (await spend(inside, key, new Date((hour + 1) * HOUR_MS)))
        await recordAudit(inside, { action: 'refused', details: { what } })
    })
  } catch (error) {
    recorded.delete(key)
    deps.log.warn({ err: error, organizationId: organization.id }, 'a refusal could not be recorded')
  }
}
