import { scopeWhere } from '../../../db/queries.ts'
import { affectedRows } from '../../../db/statements.ts'
import type { BulkAction, Prisma } from '../../../generated/prisma/client.ts'
import { actingMember, memberColumns } from '../../authorization/acting-member.ts'
import type { QueuedRef } from '../../concurrency/queued-ref.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_OPEN_ERASURES } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { processRows, ROWS_PER_JOB } from '../batches/process-rows.ts'
import { assignGrader, tagInvite } from '../change-invite.ts'
import { correctInvite } from '../correct-invite.ts'
import { decideOnInvite } from '../decisions/decide.ts'
import { getInvite } from '../invites.ts'
import { extendInviteTo, lockInvite, reactivateInvite, resendInvite, revokeInvite } from '../operate-invite.ts'
import { newExpiryOf, parseParams, type StoredParams, toDecision } from './bulk-params.ts'

const include = {
  createdBy: { select: memberColumns },
  organization: { select: { id: true, name: true, tier: true } },
} satisfies Prisma.BulkChangeInclude

/**
 * Changes some of the remaining invites, on behalf of the member who started the bulk change, and queues a job for the rest. The change of an
 * invite is committed together with its row's state, under the row's lock: after a crash, or with two processes at once, each invite is
 * changed once.
 *
 * @param erasePerson the operation of an erasure. It is passed in because the folder of erasures depends on this one.
 */
export async function continueBulkChange(service: ServiceContext, ref: QueuedRef, erasePerson: BulkOperation): Promise<void> {
  const where = { organizationId_id: { organizationId: ref.organizationId, id: ref.id } }
  const change = await service.db.bulkChange.findUnique({ where, include })
  if (!change || change.stoppedAt || change.finishedAt) return
  const { id, organization, mode, createdBy } = change
  // Each erasure has its own audit entry.
  const part = change.action === 'erase' ? {} : { bulkChangeId: id }
  const ctx: Context = enterOrganization({ ...service, actor: actingMember(createdBy), ...part }, organization, mode)
  const ready = { organizationId: organization.id, bulkChangeId: id, state: 'ready' as const }
  const operation = change.action === 'erase' ? erasePerson : operations[change.action]
  const room = change.action === 'erase' ? await countFreeErasures(ctx) : Number.POSITIVE_INFINITY
  const hasMore = await processRows(
    (take) => ctx.db.bulkChangeRow.findMany({ where: ready, orderBy: { number: 'asc' }, take: Math.min(take, room) }),
    (row) => changeOne(ctx, change, row, operation),
  )
  if (hasMore) return service.deps.queue.enqueueBulkChange(service.db, change)
  const isWaiting = room < ROWS_PER_JOB && (await ctx.db.bulkChangeRow.count({ where: ready })) > 0
  if (!isWaiting) return finish(ctx, id)
  const startAfter = new Date(service.deps.clock().getTime() + ROOM_AGAIN_MS)
  await service.deps.queue.enqueueBulkChange(service.db, { id, organizationId: organization.id, startAfter })
}

/** Milliseconds after which finished erasures have made room for others. */
const ROOM_AGAIN_MS = 5_000

/** Erasures that a bulk change may ask for now: half of the organization's limit stays free for others. */
async function countFreeErasures({ db, organization }: Context): Promise<number> {
  const unfinished = await db.erasure.count({ where: { organizationId: organization.id, finishedAt: null } })
  return Math.max(0, MAX_OPEN_ERASURES / 2 - unfinished)
}

type Change = { id: string; action: BulkAction; params: Prisma.JsonValue }
type Row = { number: number; inviteId: string }

export type BulkOperation = (ctx: Context, inviteId: string, params: StoredParams, changeId: string) => Promise<unknown>
const operations: Record<Exclude<BulkAction, 'erase'>, BulkOperation> = {
  resend: (ctx, inviteId, { message }) => resendInvite(ctx, inviteId, { message }),
  extend: (ctx, inviteId, params) => extendInviteTo(ctx, inviteId, (current) => newExpiryOf(params, current)),
  tag: (ctx, inviteId, { tagId = '' }) => tagInvite(ctx, inviteId, tagId),
  assign: (ctx, inviteId, { graderId = null }) => assignGrader(ctx, inviteId, graderId),
  async revoke(ctx, inviteId, { includesStarted, message }) {
    if (!includesStarted) await refuseStarted(ctx, inviteId)
    await revokeInvite(ctx, inviteId, message === undefined ? {} : { message })
  },
  reactivate: (ctx, inviteId, { expiresInDays }) => reactivateInvite(ctx, inviteId, { expiresInDays }),
  name: fillName,
  decide: (ctx, inviteId, params) => decideOnInvite(ctx, inviteId, toDecision(params)),
}

const changeOne = (ctx: Context, change: Change, row: Row, operation: BulkOperation): Promise<void> =>
  inTransaction(ctx, async (inside) => {
    if (!(await lockUnstopped(inside, change)) || !(await lockReadyRow(inside, change, row))) return
    const data = await inTransaction(inside, (nested) => operation(nested, row.inviteId, parseParams(change), change.id)).then(
      () => ({ state: 'done' as const }),
      outcomeOf,
    )
    const where = { organizationId: ctx.organization.id, bulkChangeId: change.id, number: row.number }
    await inside.db.bulkChangeRow.updateMany({ where, data })
  })

/** True if the change is not stopped. The lock keeps others from stopping it until the transaction ends. */
async function lockUnstopped(ctx: Context, { id }: Change): Promise<boolean> {
  const unstopped = ctx.db.selectFrom('bulkChanges').select('id').where('id', '=', id).where('stoppedAt', 'is', null)
  return (await affectedRows(unstopped.forShare())) > 0
}

/** Locks a row until the transaction ends. @returns true if it is still to be done, and no other process works on it. */
async function lockReadyRow(ctx: Context, { id }: Change, { number }: Row): Promise<boolean> {
  const ready = ctx.db.selectFrom('bulkChangeRows').select('number').where('bulkChangeId', '=', id).where('number', '=', number)
  return (await affectedRows(ready.where('state', '=', 'ready').forUpdate().skipLocked())) > 0
}

/** @throws the error, unless it says something about the row. */
function outcomeOf(error: unknown): Prisma.BulkChangeRowUncheckedUpdateManyInput {
  if (!(error instanceof DomainError) || error.kind === 'too_many_erasures') throw error
  if (error.kind === 'not_permitted') return { state: 'refused' }
  return { state: 'invalid', issues: error.issues.map((issue) => ({ ...issue })) as Prisma.InputJsonValue }
}

/** Marks the change as finished, unless another process still works on some of its rows. */
async function finish(ctx: Context, id: string): Promise<void> {
  const { db, deps, organization } = ctx
  const { count } = await db.bulkChange.updateMany({
    where: { ...scopeWhere(ctx), id, finishedAt: null, rows: { none: { state: 'ready' } } },
    data: { finishedAt: deps.clock() },
  })
  if (count === 1) deps.log.info({ organizationId: organization.id, bulkChangeId: id }, 'a bulk change is finished')
}

/** Fills in the missing name of an invite from a list, and sends the invitation again if requested. */
async function fillName(inside: Context, inviteId: string, { listId = '', sendsAgain }: StoredParams): Promise<void> {
  const { db, organization } = inside
  await lockInvite(inside, inviteId)
  const where = { organizationId: organization.id, batchId: listId, inviteId, state: 'already' as const }
  const row = await db.inviteBatchRow.findFirst({ where, select: { name: true } })
  if (!row?.name || (await getInvite(inside, inviteId)).recipientName)
    throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'hasName' }] })
  await correctInvite(inside, inviteId, { recipientName: row.name })
  if (sendsAgain) await resendInvite(inside, inviteId)
}

/** Keeps an invite that its candidate has started. @throws DomainError invite_not_found; invalid, `hasStarted`. */
async function refuseStarted(inside: Context, inviteId: string): Promise<void> {
  await lockInvite(inside, inviteId)
  if ((await getInvite(inside, inviteId)).status === 'started')
    throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'hasStarted' }] })
}
