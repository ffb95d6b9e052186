import { scopeWhere } from '../../../db/queries.ts'
import type { AuditAction } from '../../audit/record-audit.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { lockOrganization } from '../../concurrency/lock-organization.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { type Batch, getBatch, requireMember } from './batches.ts'
import { countNameless } from './count-nameless.ts'
import { createMissingTags } from './missing-tags.ts'
import { planMails } from './plan-mails.ts'

// Starts, stops, and withdraws a checked list. Each is one guarded UPDATE, so that a second click or another member has no
// further effect.

/** True if a list may have been read wrongly: it has columns that are not used, or names for some people only. */
export const needsConfirmation = (
  { unusedColumns, counts }: Pick<Batch, 'unusedColumns' | 'counts'>,
  nameless: number,
): boolean => counts.ready > 0 && (unusedColumns.length > 0 || (nameless > 0 && nameless < counts.ready))

type StartOptions = { isConfirmed?: boolean; createsTags?: boolean }

/**
 * Starts a batch: a job invites its ready rows on behalf of the member. A batch that is already started does not change.
 *
 * @param options.isConfirmed true if the member has confirmed what the list lacks. @param options.createsTags creates the tags that rows name and
 *   that don't exist, so that these rows are ready too.
 * @throws DomainError not_permitted, invite_batch_not_found; invalid, `mailsTooLate`: mails would leave after half of their invites' time;
 *   `notConfirmed`.
 */
export const startBatch = (
  ctx: Context,
  id: string,
  { isConfirmed = false, createsTags = false }: StartOptions = {},
): Promise<void> =>
  control(ctx, id, 'invited_many', async (inside, checked, createdById) => {
    const { db, deps } = inside
    const batch = createsTags ? await addMissingTags(inside, id) : checked
    if (batch.startedAt === null) {
      if (!isConfirmed && needsConfirmation(batch, await countNameless(inside, id)))
        throwIfIssues([{ field: '', rule: 'account', problem: 'notConfirmed' }])
      await lockOrganization(inside) // or lists that are started at the same time would each be planned without the others
      const { tooLate, perDay } = await planMails(inside, batch)
      throwIfIssues(tooLate ? [{ field: '', rule: 'account', problem: 'mailsTooLate', limit: perDay }] : [])
    }
    const where = { ...scopeWhere(inside), id, startedAt: null }
    const { count } = await db.inviteBatch.updateMany({ where, data: { startedAt: deps.clock(), createdById } })
    if (count > 0) await deps.queue.enqueueInviteBatch(db, batch)
    return count > 0
  })

/** Creates the missing tags unless the batch is started. The lock keeps others from starting it meanwhile. */
async function addMissingTags(inside: Context, id: string): Promise<Batch> {
  await lockOrganization(inside)
  const { startedAt } = await getBatch(inside, id)
  if (startedAt === null) await createMissingTags(inside, id)
  return getBatch(inside, id)
}

/**
 * Stops a batch until it is resumed. Once this returns, no further row is invited. A batch that is not in progress does not change.
 *
 * @throws DomainError not_permitted, invite_batch_not_found.
 */
export const stopBatch = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'stopped_batch', async (inside) => {
    const where = { ...scopeWhere(inside), id, startedAt: { not: null }, stoppedAt: null, finishedAt: null }
    const { count } = await inside.db.inviteBatch.updateMany({ where, data: { stoppedAt: inside.deps.clock() } })
    return count > 0
  })

/**
 * Resumes a batch that was stopped, or that waits for a retry or has none left. A second job does no harm, because each row is invited
 * once. Does nothing if the batch is finished, or was never started.
 *
 * @throws DomainError not_permitted, invite_batch_not_found.
 */
export const resumeBatch = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'resumed_batch', async (inside, batch) => {
    const { db, deps } = inside
    const where = { ...scopeWhere(inside), id, startedAt: { not: null }, finishedAt: null }
    const { count } = await db.inviteBatch.updateMany({ where, data: { stoppedAt: null } })
    if (count > 0) await deps.queue.enqueueInviteBatch(db, { ...batch, isRetry: batch.stoppedAt === null })
    return count > 0
  })

/**
 * Deletes a list that was never started. A started one stays, with its outcome.
 *
 * @throws DomainError not_permitted, invite_batch_not_found.
 */
export const discardBatch = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'discarded_batch', async (inside) => {
    const { count } = await inside.db.inviteBatch.deleteMany({ where: { ...scopeWhere(inside), id, startedAt: null } })
    return count > 0
  })

/** Does it, and records it with how many rows were ready, if it changes anything. @param work @returns whether it did. */
async function control(
  ctx: Context,
  id: string,
  action: AuditAction,
  work: (inside: Context, batch: Batch, memberId: string) => Promise<boolean>,
): Promise<void> {
  const memberId = requireMember(ctx)
  const batch = await getBatch(ctx, id)
  await inTransaction(ctx, async (inside) => {
    if (!(await work(inside, batch, memberId))) return
    await recordAudit(inside, { action, target: { kind: 'invite_batch', id }, details: { rows: batch.counts.ready } })
  })
}
