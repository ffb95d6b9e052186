import { sql } from '../../db/builder.ts'
import { detailsOf } from '../audit/audit-details.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { purgeIdempotencyRecords, readAnswerKeys, readIdsInAnswers } from '../concurrency/do-once.ts'
import type { Context } from '../context.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { RETENTION_RULES } from './due-invites.ts'
import { type Counting, eraseCounted } from './erasing.ts'
import { type ErasedCounts, RETENTION } from './erasures.ts'

// The erasure of what an organization keeps no longer: of a night one, with its receipt.

/** Answers whose ids one statement looks for: a list of many invites is one of them. */
const ANSWERS_AT_ONCE = 200

/** The one that runs. */
export const runningNight = (ctx: Context) =>
  ctx.db.selectFrom('erasures').where('addressHmac', '=', RETENTION.code).where('finishedAt', 'is', null)

/** The erasure of this night: the one that runs, or a new one. */
export async function beginNight(ctx: Context): Promise<Counting> {
  const running = await runningNight(ctx).select('id').executeTakeFirst()
  if (running) return { ctx, id: running.id }
  const { deps, actor } = ctx
  const row = { id: deps.newId(), subject: RETENTION.subject, addressHmac: RETENTION.code }
  const beginning = ctx.db
    .insertInto('erasures')
    .values({ ...row, actorKind: actor.kind, step: 'invites', createdAt: deps.clock() })
  await beginning.onConflict((conflict) => conflict.doNothing()).execute()
  return { ctx, id: (await runningNight(ctx).select('id').executeTakeFirstOrThrow()).id }
}

/** Forgets what was answered of the night's invites, and says in the audit log how many there were. @param next when to look again. */
export async function endNight(ctx: Context, next: Date): Promise<void> {
  const { deps, organization } = ctx
  const night = await runningNight(ctx).select('id').executeTakeFirst()
  if (night) await purgeStoredResponses({ ctx, id: night.id })
  await inTransaction(ctx, async (inside) => {
    const { db } = inside
    if (night) {
      const finishedAt = deps.clock()
      const backupsUntil = daysAfter(finishedAt, deps.backupsKeptDays)
      const ending = inside.db.updateTable('erasures').where('id', '=', night.id).where('finishedAt', 'is', null)
      const ended = await ending.set({ step: 'receipt', finishedAt, backupsUntil }).returning('counts').executeTakeFirst()
      const counts = (ended?.counts ?? {}) as ErasedCounts
      const details = detailsOf(RETENTION_RULES.map((rule) => [rule, counts[rule] ?? 0] as const))
      if (ended) await recordAudit(inside, { action: 'erased_ended_invites', target: { kind: 'erasure', id: night.id }, details })
    }
    // Unless somebody has just had it begin later.
    const where = { organizationId: organization.id, nextAt: { lt: next } }
    await db.organizationRetention.updateMany({ where, data: { nextAt: next } })
  })
}

/** Deletes stored responses that name an invite of the night. */
async function purgeStoredResponses(counting: Counting): Promise<void> {
  const { ctx, id } = counting
  for await (const keys of readAnswerKeys(ctx, ANSWERS_AT_ONCE)) {
    const named = await readIdsInAnswers(ctx, keys)
    if (named.length === 0) continue
    const its = ctx.db
      .selectFrom('erasedInvites')
      .where('erasureId', '=', id)
      .where('inviteId', '=', sql<string>`any(${named}::uuid[])`)
    const ids = (await its.select('inviteId').execute()).map(({ inviteId }) => inviteId)
    if (ids.length === 0) continue
    const patterns = { inKeys: ids.join('|'), inTexts: ids.join('|') }
    await eraseCounted(counting, async (inside) => ({
      requestRecords: await purgeIdempotencyRecords(inside, keys, patterns),
    }))
  }
}
