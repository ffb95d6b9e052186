import { own } from '../../../db/own.ts'
import { run } from '../../../db/statements.ts'
import type { BulkAction, Prisma } from '../../../generated/prisma/client.ts'
import { actingMember, memberColumns } from '../../access/acting-member.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { inTransaction } from '../../transaction.ts'
import type { QueuedRef } from '../../work/queued-ref.ts'
import { workThrough } from '../batches/work-through.ts'
import { assignGrader, tagInvite } from '../change-invite.ts'
import { extendInvite, resendInvite, revokeInvite } from '../operations.ts'
import { type Given, givenOf } from './bulk-changes.ts'

const include = {
  createdBy: { select: memberColumns },
  organization: { select: { id: true, name: true, tier: true } },
} satisfies Prisma.BulkChangeInclude

/**
 * Does a bulk change to some of the invites that are left, in the name of who asked for it. Unless it is finished then, another job goes on.
 * What is done to an invite is committed together with its row's state, under the row's lock: killed in between and started again, or done
 * by two processes at once, each is changed once.
 */
export async function continueBulkChange(service: ServiceContext, ref: QueuedRef): Promise<void> {
  const where = { organizationId_id: { organizationId: ref.organizationId, id: ref.id } }
  const change = await service.db.bulkChange.findUnique({ where, include })
  if (!change || change.stoppedAt || change.finishedAt) return
  const { id, organization, mode, createdBy } = change
  const ctx: Context = { ...service, organization, mode, actor: actingMember(createdBy) }
  const ready = { organizationId: organization.id, bulkChangeId: id, state: 'ready' as const }
  const hasMore = await workThrough(
    (take) => ctx.db.bulkChangeRow.findMany({ where: ready, orderBy: { number: 'asc' }, take }),
    (row) => changeOne(ctx, change, row),
  )
  if (hasMore) await service.deps.queue.enqueueBulkChange(service.db, change)
  else await finish(ctx, id)
}

type Change = { id: string; action: BulkAction; given: Prisma.JsonValue }
type Row = { number: number; inviteId: string }

const operations: Record<BulkAction, (ctx: Context, inviteId: string, given: Given) => Promise<unknown>> = {
  resend: resendInvite,
  extend: (ctx, inviteId, { expiresInDays = 0 }) => extendInvite(ctx, inviteId, { expiresInDays }),
  tag: (ctx, inviteId, { tagId = '' }) => tagInvite(ctx, inviteId, tagId),
  assign: (ctx, inviteId, { graderId = null }) => assignGrader(ctx, inviteId, graderId),
  revoke: revokeInvite,
}

const changeOne = (ctx: Context, change: Change, row: Row): Promise<void> =>
  inTransaction(ctx, async (inside) => {
    if (!(await lockUnstopped(inside, change)) || !(await holdReady(inside, change, row))) return
    const data = await inTransaction(inside, (within) => operations[change.action](within, row.inviteId, givenOf(change))).then(
      () => ({ state: 'done' as const }),
      outcomeOf,
    )
    const where = { organizationId: ctx.organization.id, bulkChangeId: change.id, number: row.number }
    await inside.db.bulkChangeRow.updateMany({ where, data })
  })

/** Whether it is not stopped, and can't be until the transaction ends. */
async function lockUnstopped(ctx: Context, { id }: Change): Promise<boolean> {
  const unstopped = own(ctx, 'bulkChanges').select('id').where('id', '=', id).where('stoppedAt', 'is', null)
  return (await run(ctx.db, unstopped.forShare())) > 0
}

/** Whether the row is still to be done, and nobody else does it until the transaction ends. */
async function holdReady(ctx: Context, { id }: Change, { number }: Row): Promise<boolean> {
  const ready = own(ctx, 'bulkChangeRows').select('number').where('bulkChangeId', '=', id).where('number', '=', number)
  return (await run(ctx.db, ready.where('state', '=', 'ready').forUpdate().skipLocked())) > 0
}

/** @throws the error, unless it says something about the row. */
function outcomeOf(error: unknown): Prisma.BulkChangeRowUncheckedUpdateManyInput {
  if (!(error instanceof DomainError)) throw error
  if (error.kind === 'not_permitted') return { state: 'refused' }
  return { state: 'invalid', issues: error.issues.map((issue) => ({ ...issue })) as Prisma.InputJsonValue }
}

/** With the last of its rows: another process may be at some of them. */
async function finish({ db, deps, organization }: Context, id: string): Promise<void> {
  const { count } = await db.bulkChange.updateMany({
    where: { organizationId: organization.id, id, finishedAt: null, rows: { none: { state: 'ready' } } },
    data: { finishedAt: deps.clock() },
  })
  if (count === 1) deps.log.info({ organizationId: organization.id, bulkChangeId: id }, 'a bulk change is finished')
}
