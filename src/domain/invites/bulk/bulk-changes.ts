import { scopeWhere } from '../../../db/queries.ts'
import { insertRows } from '../../../db/writes.ts'
import type { BulkAction, BulkRowState, Prisma } from '../../../generated/prisma/client.ts'
import { type AuditAction, recordAudit } from '../../audit/record-audit.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../../audit/run-export.ts'
import { modeOf } from '../../authorization/author.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_BULK_INVITES } from '../../limits.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { withExpiry } from '../extension.ts'
import { type BulkParams, findParamIssues, toAuditedParams } from './bulk-params.ts'
import { findSelectedInvites, fingerprintOf, type InviteSelection } from './choose-invites.ts'

// One action on many invites. One transaction chooses and stores them. A job then changes them row by row: continue-bulk-change.ts.

export type { BulkAction, BulkRowState }
export const BULK_ACTIONS = [
  'resend',
  'extend',
  'tag',
  'assign',
  'revoke',
  'reactivate',
  'name',
  'erase',
  'decide',
] as const satisfies BulkAction[]
export const BULK_ROW_STATES = ['ready', 'done', 'invalid', 'refused'] as const satisfies BulkRowState[]

const STORED_AT_ONCE = 2_000
const MAX_LISTED = 20

type NewBulkChange = {
  action: BulkAction
  params: BulkParams
  selection: InviteSelection
  most: number
  fingerprint?: string | undefined
}

/**
 * Starts a bulk change on behalf of the member. Unknown ids are ignored.
 *
 * @param change.most number of invites that the member was shown. If more match by now, nothing is changed.
 * @param change.fingerprint of the invites that the member was shown. If others match by now, nothing is changed.
 * @returns the change's id.
 * @throws DomainError not_permitted; invalid: for the parameters, `noneChosen`, `tooManyChosen`, `moreMatch`.
 */
export async function startBulkChange(
  ctx: Context,
  { action, params: typed, selection, most, fingerprint }: NewBulkChange,
): Promise<string> {
  const createdById = requireOperator(ctx)
  if (action === 'erase') authorize(ctx, 'erase_candidates')
  if (action === 'decide') authorize(ctx, 'decide')
  const params = await withExpiry(ctx, typed)
  throwIfIssues(await findParamIssues(ctx, action, params))
  const inviteIds = await findSelectedInvites(ctx, selection)
  refuseCount(inviteIds.length, most)
  if (fingerprint !== undefined && fingerprint !== fingerprintOf(inviteIds)) refuseCount(inviteIds.length, 0)
  const { deps, organization } = ctx
  const id = deps.newId()
  const scope = { organizationId: organization.id }
  await inTransaction(ctx, async (inside) => {
    const change = {
      ...scope,
      id,
      mode: modeOf(ctx),
      action,
      params: { ...params, count: inviteIds.length },
      createdById,
      createdAt: deps.clock(),
    }
    await inside.db.bulkChange.create({ data: change })
    const rows = inviteIds.map((inviteId, i) => ({
      ...scope,
      bulkChangeId: id,
      number: i + 1,
      inviteId,
      state: 'ready' as const,
    }))
    for (let i = 0; i < rows.length; i += STORED_AT_ONCE)
      await insertRows(inside.db, { bulkChangeRows: rows.slice(i, i + STORED_AT_ONCE) }).execute()
    await deps.queue.enqueueBulkChange(inside.db, { ...scope, id })
    const target = { kind: 'bulk_change', id } as const
    await recordAudit(inside, {
      action: 'changed_many',
      target,
      details: { change: action, invites: rows.length, ...toAuditedParams(params) },
    })
  })
  return id
}

function refuseCount(count: number, most: number): void {
  const say = (problem: 'noneChosen' | 'tooManyChosen' | 'moreMatch', limit?: number) =>
    throwIfIssues([{ field: '', rule: 'account', problem, ...(limit !== undefined && { limit }) }])
  if (count === 0) say('noneChosen')
  if (count > MAX_BULK_INVITES) say('tooManyChosen', MAX_BULK_INVITES)
  if (count > most) say('moreMatch', count)
}

/** @returns the member's id. @throws DomainError not_permitted. */
function requireOperator(ctx: Context): string {
  authorize(ctx, 'operate_invites')
  if (ctx.actor.kind !== 'member') throw new DomainError('not_permitted')
  return ctx.actor.id
}

const include = {
  createdBy: { select: { user: { select: { firstName: true, lastName: true, email: true } } } },
} satisfies Prisma.BulkChangeInclude
export type ListedBulkChange = Prisma.BulkChangeGetPayload<{ include: typeof include }>
/** A bulk change with the numbers of its rows by state. @property count number of its invites, including erased ones. */
export type BulkChange = ListedBulkChange & { counts: Record<BulkRowState, number>; count: number }

/** @throws DomainError not_permitted, invite_batch_not_found. */
export async function getBulkChange(ctx: Context, id: string): Promise<BulkChange> {
  authorize(ctx, 'operate_invites')
  const { db, organization } = ctx
  const change = isUuid(id) ? await db.bulkChange.findFirst({ where: { ...scopeWhere(ctx), id }, include }) : null
  if (!change) throw new DomainError('invite_batch_not_found')
  const where = { organizationId: organization.id, bulkChangeId: id }
  const groups = await db.bulkChangeRow.groupBy({ by: ['state'], where, _count: true })
  const counts = { ready: 0, done: 0, invalid: 0, refused: 0 }
  for (const { state, _count } of groups) counts[state] = _count
  const present = BULK_ROW_STATES.reduce((sum, state) => sum + counts[state], 0)
  return { ...change, counts, count: (change.params as { count?: number }).count ?? present }
}

/** The newest. @throws DomainError not_permitted. */
export async function listBulkChanges(ctx: Context): Promise<ListedBulkChange[]> {
  authorize(ctx, 'operate_invites')
  return ctx.db.bulkChange.findMany({ where: scopeWhere(ctx), include, orderBy: { id: 'desc' }, take: MAX_LISTED })
}

const rowInclude = {
  invite: { select: { recipientName: true, recipientEmail: true, assessment: { select: { name: true } } } },
} satisfies Prisma.BulkChangeRowInclude
/** An invite of a bulk change, with its outcome. */
export type BulkChangeRow = Prisma.BulkChangeRowGetPayload<{ include: typeof rowInclude }>

/** The rows of a change, in their order. @throws DomainError not_permitted. */
export async function listBulkChangeRows(
  ctx: Context,
  { id, counts }: BulkChange,
  state: BulkRowState | undefined,
  page: PageRequest,
): Promise<ListPage<BulkChangeRow>> {
  authorize(ctx, 'operate_invites')
  const states = state === undefined ? BULK_ROW_STATES : [state]
  const where = { organizationId: ctx.organization.id, bulkChangeId: id, ...(state && { state }) }
  return readPage(
    page,
    async () => states.reduce((sum, countedState) => sum + counts[countedState], 0),
    (window) =>
      ctx.db.bulkChangeRow.findMany({
        where,
        orderBy: { number: 'asc' },
        include: rowInclude,
        relationLoadStrategy: 'join',
        ...window,
      }),
  )
}

/** Exports all rows of a change with their outcomes, in their order. @throws DomainError not_permitted, too_many_exports. */
export async function exportBulkChangeRows(
  ctx: Context,
  { id, action }: BulkChange,
  write: WriteBatch<BulkChangeRow>,
): Promise<void> {
  authorize(ctx, 'operate_invites')
  const readAfter = (last?: BulkChangeRow) =>
    ctx.db.bulkChangeRow.findMany({
      where: { organizationId: ctx.organization.id, bulkChangeId: id, number: { gt: last?.number ?? 0 } },
      orderBy: { number: 'asc' },
      include: rowInclude,
      relationLoadStrategy: 'join',
      take: EXPORTED_AT_ONCE,
    })
  await runExport(ctx, { action: 'exported_bulk_change', filter: { change: action } }, readAfter, write)
}

/** Stops a change until it is resumed. Once this returns, nothing more is changed. @throws DomainError not_permitted, invite_batch_not_found. */
export const stopBulkChange = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'stopped_bulk_change', async (inside) => {
    const where = { ...scopeWhere(inside), id, stoppedAt: null, finishedAt: null }
    return (await inside.db.bulkChange.updateMany({ where, data: { stoppedAt: inside.deps.clock() } })).count > 0
  })

/** Resumes a change that was stopped, or whose job has failed too often. @throws DomainError not_permitted, invite_batch_not_found. */
export const resumeBulkChange = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'resumed_bulk_change', async (inside, { stoppedAt }) => {
    const { db, deps, organization } = inside
    const where = { ...scopeWhere(inside), id, finishedAt: null }
    const { count } = await db.bulkChange.updateMany({ where, data: { stoppedAt: null } })
    if (count > 0) await deps.queue.enqueueBulkChange(db, { id, organizationId: organization.id, isRetry: stoppedAt === null })
    return count > 0
  })

/** Does the work, and records it in the audit log if it changed anything. */
async function control(
  ctx: Context,
  id: string,
  action: AuditAction,
  work: (inside: Context, change: Pick<BulkChange, 'stoppedAt'>) => Promise<boolean>,
): Promise<void> {
  requireOperator(ctx)
  const change = await getBulkChange(ctx, id)
  await inTransaction(ctx, async (inside) => {
    if (await work(inside, change)) await recordAudit(inside, { action, target: { kind: 'bulk_change', id } })
  })
}
