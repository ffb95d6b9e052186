import { among, own, seen } from '../../../db/own.ts'
import { all, run } from '../../../db/statements.ts'
import { insertRows } from '../../../db/writes.ts'
import type { BulkAction, BulkRowState, Prisma } from '../../../generated/prisma/client.ts'
import { modeOf } from '../../access/author.ts'
import { authorize } from '../../access/permissions.ts'
import { type AuditAction, recordAudit } from '../../audit/record-audit.ts'
import { EXPORTED_AT_ONCE, runExport, type Write } from '../../audit/run-export.ts'
import { checkInteger, findIssues } from '../../checking/checks.ts'
import { refuse } from '../../checking/refuse.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { DomainError, type Issue } from '../../errors.ts'
import { EXPIRY_DAYS, MAX_BATCH_ROWS } from '../../limits.ts'
import { type Listing, type Page, readPage } from '../../lists/page.ts'
import { inTransaction } from '../../transaction.ts'
import { isUuid } from '../../values/uuid.ts'
import { resolveReferences } from '../create-invite.ts'
import type { InviteFilter } from '../listing/filter.ts'
import { findMatchingIds } from '../listing/matches.ts'
import { findMessageIssues } from '../operations.ts'

// One thing done to many invites. They are chosen and noted by one transaction, and done row by row by a job: continue-bulk-change.ts.

export type { BulkAction, BulkRowState }
export const BULK_ACTIONS = ['resend', 'extend', 'tag', 'assign', 'revoke'] as const satisfies BulkAction[]
export const BULK_ROW_STATES = ['ready', 'done', 'invalid', 'refused'] as const satisfies BulkRowState[]

/** What it is done with: that of its action. `graderId`, null: nobody. */
export type Given = {
  expiresInDays?: number | undefined
  tagId?: string
  graderId?: string | null
  /** Replaces each invite's own message. */
  message?: string | undefined
}
/** These invites, or all that match a filter. */
export type Which = { ids: string[] } | { filter: InviteFilter }

const STORED_AT_ONCE = 2_000
const KEPT_FOR_MS = 90 * 86_400_000
const MAX_LISTED = 20

/**
 * Has something done to many invites, in the name of the member who asks. Of ids that are none of theirs nothing is said.
 *
 * @param wanted.most how many invites they were told it would be: it is never done to more.
 * @returns the change's id.
 * @throws DomainError not_permitted; invalid: for what it is done with, `noneChosen`, `tooManyChosen`, `moreMatch`.
 */
export async function startBulkChange(
  ctx: Context,
  { action, given, which, most }: { action: BulkAction; given: Given; which: Which; most: number },
): Promise<string> {
  const createdById = requireOperator(ctx)
  refuse(await findGivenIssues(ctx, action, given))
  const inviteIds = await findChosen(ctx, which)
  refuseCount(inviteIds.length, most)
  const { deps, organization } = ctx
  const id = deps.newId()
  const of = { organizationId: organization.id }
  await inTransaction(ctx, async (inside) => {
    const change = { ...of, id, mode: modeOf(ctx), action, given: { ...given }, createdById, createdAt: deps.clock() }
    await inside.db.bulkChange.create({ data: change })
    const rows = inviteIds.map((inviteId, i) => ({ ...of, bulkChangeId: id, number: i + 1, inviteId, state: 'ready' as const }))
    for (let i = 0; i < rows.length; i += STORED_AT_ONCE)
      await run(inside.db, insertRows({ bulkChangeRows: rows.slice(i, i + STORED_AT_ONCE) }))
    await deps.queue.enqueueBulkChange(inside.db, { ...of, id })
    const target = { kind: 'bulk_change', id } as const
    // The message may name somebody; the log outlives them.
    const { message: _, ...recorded } = given
    await recordAudit(inside, { action: 'changed_many', target, details: { change: action, invites: rows.length, ...recorded } })
  })
  return id
}

function refuseCount(count: number, most: number): void {
  const say = (problem: 'noneChosen' | 'tooManyChosen' | 'moreMatch', limit?: number) =>
    refuse([{ field: '', rule: 'account', problem, ...(limit !== undefined && { limit }) }])
  if (count === 0) say('noneChosen')
  if (count > MAX_BATCH_ROWS) say('tooManyChosen', MAX_BATCH_ROWS)
  if (count > most) say('moreMatch', count)
}

/** @returns the member's id. @throws DomainError not_permitted. */
function requireOperator(ctx: Context): string {
  authorize(ctx, 'operate_invites')
  if (ctx.actor.kind !== 'member') throw new DomainError('not_permitted')
  return ctx.actor.id
}

/** What is wrong with what it is to be done with. */
async function findGivenIssues(ctx: Context, action: BulkAction, given: Given): Promise<Issue[]> {
  const { expiresInDays, tagId, graderId = null, message } = given
  if (action === 'resend') return findMessageIssues(message)
  if (action === 'extend') return findIssues([['expiresInDays', checkInteger(expiresInDays ?? 0, EXPIRY_DAYS)]])
  if (action === 'tag') {
    if (!tagId || !isUuid(tagId)) return [{ field: 'tagIds', rule: 'required' }]
    return (await resolveReferences(ctx, { tagIds: [tagId] })).issues
  }
  if (action !== 'assign' || graderId === null) return []
  if (!isUuid(graderId)) return [{ field: 'assignedGraderId', rule: 'reference', value: graderId }]
  return (await resolveReferences(ctx, { assignedGraderId: graderId, tagIds: [] })).issues
}

/** The invites, sent last first; one more than may be, where there are more. */
async function findChosen(ctx: Context, which: Which): Promise<string[]> {
  if ('filter' in which) return findMatchingIds(ctx, which.filter, MAX_BATCH_ROWS + 1)
  const chosen = own(ctx, 'invites').where('id', '=', among(which.ids.filter(isUuid)))
  const found = await all(ctx.db, chosen.select('id').orderBy('sentAt', 'desc').orderBy('id', 'desc'))
  return found.map(({ id }) => id)
}

const include = {
  createdBy: { select: { user: { select: { firstName: true, lastName: true, email: true } } } },
} satisfies Prisma.BulkChangeInclude
export type ListedBulkChange = Prisma.BulkChangeGetPayload<{ include: typeof include }>
/** A bulk change, and how many of its rows are in each state. */
export type BulkChange = ListedBulkChange & { counts: Record<BulkRowState, number> }

/** As it was checked and stored by startBulkChange. */
export const givenOf = ({ given }: { given: Prisma.JsonValue }): Given => given as Given

/** @throws DomainError not_permitted, invite_batch_not_found. */
export async function getBulkChange(ctx: Context, id: string): Promise<BulkChange> {
  authorize(ctx, 'operate_invites')
  const { db, organization } = ctx
  const change = isUuid(id) ? await db.bulkChange.findFirst({ where: { ...seen(ctx), id }, include }) : null
  if (!change) throw new DomainError('invite_batch_not_found')
  const where = { organizationId: organization.id, bulkChangeId: id }
  const groups = await db.bulkChangeRow.groupBy({ by: ['state'], where, _count: true })
  const counts = { ready: 0, done: 0, invalid: 0, refused: 0 }
  for (const { state, _count } of groups) counts[state] = _count
  return { ...change, counts }
}

/** The newest. @throws DomainError not_permitted. */
export async function listBulkChanges(ctx: Context): Promise<ListedBulkChange[]> {
  authorize(ctx, 'operate_invites')
  return ctx.db.bulkChange.findMany({ where: seen(ctx), include, orderBy: { id: 'desc' }, take: MAX_LISTED })
}

const rowInclude = {
  invite: { select: { recipientName: true, recipientEmail: true, assessment: { select: { name: true } } } },
} satisfies Prisma.BulkChangeRowInclude
/** An invite of a bulk change, with what became of it. */
export type BulkChangeRow = Prisma.BulkChangeRowGetPayload<{ include: typeof rowInclude }>

/** The rows of a change, in their order. @throws DomainError not_permitted. */
export async function listBulkChangeRows(
  ctx: Context,
  { id, counts }: BulkChange,
  state: BulkRowState | undefined,
  page: Page,
): Promise<Listing<BulkChangeRow>> {
  authorize(ctx, 'operate_invites')
  const states = state === undefined ? BULK_ROW_STATES : [state]
  const where = { organizationId: ctx.organization.id, bulkChangeId: id, ...(state && { state }) }
  return readPage(
    page,
    async () => states.reduce((sum, one) => sum + counts[one], 0),
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
export async function exportBulkChangeRows(ctx: Context, { id, action }: BulkChange, write: Write<BulkChangeRow>): Promise<void> {
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

/** Has nothing more done, until it is resumed: when it returns, what is not done stays so. @throws DomainError not_permitted, invite_batch_not_found. */
export const stopBulkChange = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'stopped_bulk_change', async ({ db, deps, organization }) => {
    const where = { organizationId: organization.id, id, stoppedAt: null, finishedAt: null }
    return (await db.bulkChange.updateMany({ where, data: { stoppedAt: deps.clock() } })).count > 0
  })

/** Has one go on that was stopped, or whose job has failed too often. @throws DomainError not_permitted, invite_batch_not_found. */
export const resumeBulkChange = (ctx: Context, id: string): Promise<void> =>
  control(ctx, id, 'resumed_bulk_change', async ({ db, deps, organization }) => {
    const where = { organizationId: organization.id, id, finishedAt: null }
    const { count } = await db.bulkChange.updateMany({ where, data: { stoppedAt: null } })
    if (count > 0) await deps.queue.enqueueBulkChange(db, { id, organizationId: organization.id })
    return count > 0
  })

/** Does it, and records it if it changes anything. */
async function control(
  ctx: Context,
  id: string,
  action: AuditAction,
  work: (inside: Context) => Promise<boolean>,
): Promise<void> {
  requireOperator(ctx)
  await getBulkChange(ctx, id)
  await inTransaction(ctx, async (inside) => {
    if (await work(inside)) await recordAudit(inside, { action, target: { kind: 'bulk_change', id } })
  })
}

/** Forgets what was done more than 90 days ago; the invites stay as they are. */
export async function forgetOldBulkChanges({ db, deps }: ServiceContext): Promise<void> {
  await db.bulkChange.deleteMany({ where: { createdAt: { lte: new Date(deps.clock().getTime() - KEPT_FOR_MS) } } })
}
