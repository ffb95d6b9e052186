import { scopeWhere } from '../../../db/queries.ts'
import { affectedRows } from '../../../db/statements.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Actor } from '../../actor.ts'
import { actingMember, memberColumns } from '../../authorization/acting-member.ts'
import type { QueuedRef } from '../../concurrency/queued-ref.ts'
import { type Context, enterOrganization, type KeyMode, type ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { inTransaction } from '../../transaction.ts'
import { createInvite } from '../create-invite.ts'
import { areListsPaused } from '../dead-addresses.ts'
import type { BatchTerms } from './check-rows.ts'
import { processRows } from './process-rows.ts'
import { parseTerms } from './term-names.ts'

/**
 * Invites some rows of a started batch, in the name of its creator, and enqueues a job for the rest. Each invite commits together with its
 * row's state, so that each row is invited once, also after a crash or in two processes.
 */
export async function continueBatch(service: ServiceContext, { id, organizationId }: QueuedRef): Promise<void> {
  const batch = await service.db.inviteBatch.findUnique({
    where: { organizationId_id: { organizationId, id } },
    include: {
      createdBy: { select: memberColumns },
      createdByKey: { select: { id: true, mode: true, createdById: true, expiresAt: true, revokedAt: true } },
      assessment: { select: { organization: { select: { id: true, name: true, tier: true } } } },
    },
  })
  if (!batch || batch.stoppedAt || batch.finishedAt) return
  const { organization } = batch.assessment
  const { id: batchId } = batch
  const ctx: Context = enterOrganization({ ...service, actor: actorOf(batch, service.deps.clock()) }, organization, batch.mode)
  if (batch.mode === 'live' && (await areListsPaused(ctx))) return pause(ctx, batchId)
  const where = { organizationId: organization.id, batchId, state: 'ready' as const }
  const hasMore = await processRows(
    (take) => ctx.db.inviteBatchRow.findMany({ where, orderBy: { number: 'asc' }, take }),
    (row) => inviteRow(ctx, batch, row),
  )
  // Stopped meanwhile, another job finds that out.
  if (hasMore) await service.deps.queue.enqueueInviteBatch(service.db, batch)
  else await finish(ctx, batchId)
}

/** As a member would stop it. */
async function pause(ctx: Context, id: string): Promise<void> {
  const { db, deps, organization } = ctx
  const { count } = await db.inviteBatch.updateMany({
    where: { ...scopeWhere(ctx), id, stoppedAt: null, finishedAt: null },
    data: { stoppedAt: deps.clock() },
  })
  if (count === 1)
    deps.log.warn(
      { organizationId: organization.id, batchId: id },
      'a batch of invites is paused: many mails of its organization bounced',
    )
}

type Key = { id: string; mode: KeyMode; createdById: string | null; expiresAt: Date | null; revokedAt: Date | null }

/** Actor of the batch; without permissions if the member or key is inactive. */
function actorOf(
  { createdBy, createdByKey }: { createdBy: Parameters<typeof actingMember>[0] | null; createdByKey: Key | null },
  now: Date,
): Actor {
  if (createdBy && !createdByKey) return actingMember(createdBy)
  const isGood = createdByKey && !createdByKey.revokedAt && !(createdByKey.expiresAt && createdByKey.expiresAt <= now)
  if (!isGood) return { kind: 'system' }
  const { id, mode, createdById } = createdByKey
  return { kind: 'apiKey', id, mode, createdById }
}

type Row = { number: number; email: string; name: string; terms: Prisma.JsonValue }
type BatchOfRow = { id: string; assessmentId: string; terms: Prisma.JsonValue }

/** Another process has finished the row meanwhile, or somebody stopped the batch. */
const LOST = Symbol('lost')

async function inviteRow(ctx: Context, batch: BatchOfRow, row: Row): Promise<void> {
  const terms: BatchTerms = { ...parseTerms(batch.terms), ...parseTerms(row.terms) }
  const recipient = { assessmentId: batch.assessmentId, recipientEmail: row.email, recipientName: row.name || null }
  try {
    await inTransaction(ctx, async (inside) => {
      if (!(await lockUnstopped(inside, batch))) throw LOST
      const { id: inviteId } = await createInvite(inside, { ...recipient, ...terms }, { isOneOfMany: true })
      if (!(await recordRowOutcome(inside, batch, row, { state: 'invited', inviteId }))) throw LOST
    })
  } catch (error) {
    if (error === LOST) return
    await recordRowOutcome(ctx, batch, row, outcomeOf(error))
  }
}

/** True if the batch is not stopped. Locks it, so that it can't be stopped before the transaction ends. */
async function lockUnstopped(ctx: Context, { id }: BatchOfRow): Promise<boolean> {
  const unstopped = ctx.db.selectFrom('inviteBatches').select('id').where('id', '=', id).where('stoppedAt', 'is', null)
  return (await affectedRows(unstopped.forShare())) > 0
}

/** @throws the error, unless it says something about the row. */
function outcomeOf(error: unknown): Prisma.InviteBatchRowUncheckedUpdateManyInput {
  if (!(error instanceof DomainError)) throw error
  if (error.kind === 'duplicate_invite') return { state: 'already', inviteId: error.existingId ?? null }
  if (error.kind === 'not_permitted') return { state: 'refused' }
  return { state: 'invalid', issues: error.issues.map((issue) => ({ ...issue })) as Prisma.InputJsonValue }
}

/** @returns false if the row was done already. */
async function recordRowOutcome(
  { db, organization }: Context,
  { id: batchId }: BatchOfRow,
  { number }: Row,
  data: Prisma.InviteBatchRowUncheckedUpdateManyInput,
): Promise<boolean> {
  const where = { organizationId: organization.id, batchId, number, state: 'ready' as const }
  const { count } = await db.inviteBatchRow.updateMany({ where, data })
  return count === 1
}

/** Finishes the batch after its last row, unless another process still works on one. */
async function finish(ctx: Context, id: string): Promise<void> {
  const { db, deps, organization } = ctx
  const { count } = await db.inviteBatch.updateMany({
    where: { ...scopeWhere(ctx), id, finishedAt: null, rows: { none: { state: 'ready' } } },
    data: { finishedAt: deps.clock() },
  })
  if (count === 1) deps.log.info({ organizationId: organization.id, batchId: id }, 'a batch of invites is finished')
}
