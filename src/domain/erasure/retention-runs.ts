import { sql } from '../../db/builder.ts'
import { toAuditDetails } from '../audit/audit-details.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { purgeIdempotencyRecords, readIdsInStoredResponses, readStoredResponseKeys } from '../concurrency/idempotency.ts'
import type { Context } from '../context.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { RETENTION_RULES } from './due-invites.ts'
import { type ErasureRef, eraseCounted } from './erasing.ts'
import { type ErasedCounts, RETENTION_ERASURE } from './erasures.ts'

// Daily erasure of invites past their organization's retention, with one receipt per run.

/** Stored responses per statement. One response may list many invites. */
const ANSWERS_AT_ONCE = 200

/** The run in progress. */
export const runningRetentionRun = (ctx: Context) =>
  ctx.db.selectFrom('erasures').where('addressHmac', '=', RETENTION_ERASURE.code).where('finishedAt', 'is', null)

/** Returns the run in progress, or starts one. */
export async function startRetentionRun(ctx: Context): Promise<ErasureRef> {
  const running = await runningRetentionRun(ctx).select('id').executeTakeFirst()
  if (running) return { ctx, id: running.id }
  const { deps, actor } = ctx
  const row = { id: deps.newId(), subject: RETENTION_ERASURE.subject, addressHmac: RETENTION_ERASURE.code }
  const beginning = ctx.db
    .insertInto('erasures')
    .values({ ...row, actorKind: actor.kind, step: 'invites', createdAt: deps.clock() })
  await beginning.onConflict((conflict) => conflict.doNothing()).execute()
  return { ctx, id: (await runningRetentionRun(ctx).select('id').executeTakeFirstOrThrow()).id }
}

/** Deletes stored responses about the erased invites, and records their number in the audit log. @param next time of the next run. */
export async function finishRetentionRun(ctx: Context, next: Date): Promise<void> {
  const { deps, organization } = ctx
  const run = await runningRetentionRun(ctx).select('id').executeTakeFirst()
  if (run) await purgeStoredResponses({ ctx, id: run.id })
  await inTransaction(ctx, async (inside) => {
    const { db } = inside
    if (run) {
      const finishedAt = deps.clock()
      const backupsUntil = daysAfter(finishedAt, deps.backupsKeptDays)
      const ending = inside.db.updateTable('erasures').where('id', '=', run.id).where('finishedAt', 'is', null)
      const ended = await ending.set({ step: 'receipt', finishedAt, backupsUntil }).returning('counts').executeTakeFirst()
      const counts = (ended?.counts ?? {}) as ErasedCounts
      const details = toAuditDetails(RETENTION_RULES.map((rule) => [rule, counts[rule] ?? 0] as const))
      if (ended) await recordAudit(inside, { action: 'erased_ended_invites', target: { kind: 'erasure', id: run.id }, details })
    }
    // Unless somebody has just had it begin later.
    const where = { organizationId: organization.id, nextAt: { lt: next } }
    await db.organizationRetention.updateMany({ where, data: { nextAt: next } })
  })
}

/** Deletes stored responses that name an invite of the run. */
async function purgeStoredResponses(counting: ErasureRef): Promise<void> {
  const { ctx, id } = counting
  for await (const keys of readStoredResponseKeys(ctx, ANSWERS_AT_ONCE)) {
    const named = await readIdsInStoredResponses(ctx, keys)
    if (named.length === 0) continue
    const erasedInvites = ctx.db
      .selectFrom('erasedInvites')
      .where('erasureId', '=', id)
      .where('inviteId', '=', sql<string>`any(${named}::uuid[])`)
    const ids = (await erasedInvites.select('inviteId').execute()).map(({ inviteId }) => inviteId)
    if (ids.length === 0) continue
    const patterns = { inKeys: ids.join('|'), inTexts: ids.join('|') }
    await eraseCounted(counting, async (inside) => ({
      requestRecords: await purgeIdempotencyRecords(inside, keys, patterns),
    }))
  }
}
