import { insertRows } from '../../db/writes.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { createLruCache } from '../concurrency/lru-cache.ts'
import type { Context, ServiceContext } from '../context.ts'
import { HOUR_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { claimToken } from './used-tokens.ts'

/** Reason of a refusal: a missing permission, a scope of the key, or the network. */
export type Refusal = 'permission' | 'scope' | 'network'

/** Prefix of the counters' keys; organization, actor, reason, and hour follow. */
const REFUSAL = 'refusal'
/** Milliseconds after its hour in which a refusal is still counted: another process may just be at it. */
const COUNTED_AFTER_MS = 60_000
const RECORDED_AT_ONCE = 500

/**
 * Refusals within an hour in this process.
 * @property more number not yet in the database.
 * @property isWriting a statement is running, or the counter's row is just being inserted.
 */
type RecentRefusals = { more: number; isWriting: boolean }
const recentRefusals = createLruCache<RecentRefusals>(10_000)

/**
 * Records a refused request of a member or API key. The first per actor, reason, and hour is recorded immediately, over all processes; the
 * others as counts, see {@link recordRefusalCounts}. The request doesn't wait for it.
 */
export async function recordRefusal(ctx: Context, refusal: Refusal): Promise<void> {
  const { actor, organization, deps } = ctx
  if (actor.kind !== 'member' && actor.kind !== 'apiKey') return
  const hour = Math.floor(deps.clock().getTime() / HOUR_MS)
  const key = `${REFUSAL} ${organization.id} ${actor.kind} ${actor.id} ${refusal} ${hour}`
  const before = recentRefusals.get(key)
  const counter = before ?? { more: 0, isWriting: true }
  recentRefusals.set(key, counter)
  try {
    const isFirst = before === undefined && (await recordFirst(ctx, refusal, { key, hour }))
    if (!isFirst) counter.more++
    if (before === undefined || !counter.isWriting) await writeCount(ctx, key, counter)
  } catch (error) {
    if (before === undefined) recentRefusals.delete(key)
    deps.log.warn({ err: error, organizationId: organization.id }, 'a rejection could not be recorded')
  }
}

const recordFirst = (ctx: Context, refusal: Refusal, { key, hour }: { key: string; hour: number }): Promise<boolean> =>
  inTransaction(ctx, async (inside) => {
    const isFirst = await claimToken(inside, key, new Date((hour + 1) * HOUR_MS + COUNTED_AFTER_MS))
    if (isFirst) await recordAudit(inside, { action: 'refused', details: { what: refusal } })
    return isFirst
  })

/** One statement at a time per process, for all refusals that have come meanwhile. */
async function writeCount({ db }: Pick<Context, 'db'>, key: string, counter: RecentRefusals): Promise<void> {
  counter.isWriting = true
  try {
    while (counter.more > 0) {
      const { more } = counter
      counter.more = 0
      await db.usedToken.updateMany({ where: { key }, data: { count: { increment: more } } })
    }
  } finally {
    counter.isWriting = false
  }
}

/** Records for each hour that is over how often an actor was refused, if it was more than once. */
export async function recordRefusalCounts(system: ServiceContext): Promise<void> {
  const expiredCounts = { key: { startsWith: `${REFUSAL} ` }, expiresAt: { lte: system.deps.clock() }, count: { gt: 1 } }
  for (;;) {
    const expired = await system.db.usedToken.findMany({
      where: expiredCounts,
      orderBy: { expiresAt: 'asc' },
      take: RECORDED_AT_ONCE,
    })
    await inTransaction(system, async (inside) => {
      for (const counted of expired) await recordCount(inside, counted)
    })
    if (expired.length < RECORDED_AT_ONCE) return
  }
}

/** Only one of several processes records. Refusals counted meanwhile are recorded next time; erased actors are skipped. */
async function recordCount(inside: ServiceContext, counted: { key: string; count: number }): Promise<void> {
  const { db } = inside
  const { key, count } = counted
  if ((await db.usedToken.deleteMany({ where: { key, count } })).count === 0) return
  const entry = entryOf(inside, counted)
  if ((await db.organization.count({ where: { id: entry.organizationId } })) > 0)
    await insertRows(db, { auditEntries: [entry] }).execute()
}

function entryOf({ deps }: Pick<ServiceContext, 'deps'>, { key, count }: { key: string; count: number }) {
  const [, organizationId = '', actorKind = '', actorId = '', refusal = '', hour] = key.split(' ')
  const from = new Date(Number(hour) * HOUR_MS).toISOString()
  const details = { what: refusal, times: count, from, until: new Date((Number(hour) + 1) * HOUR_MS).toISOString() }
  const entry = { id: deps.newId(), organizationId, mode: 'live' as const, actorKind, actorId, action: 'refused', details }
  return { ...entry, at: deps.clock() }
}
