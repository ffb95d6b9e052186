import { violatedConstraint } from '../../../db/errors.ts'
import { scopeWhere } from '../../../db/queries.ts'
import { insertRows } from '../../../db/writes.ts'
import type { InviteBatchRowState, InviteStatus, Prisma } from '../../../generated/prisma/client.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../../audit/run-export.ts'
import { modeOf } from '../../authorization/author.ts'
import { authorize } from '../../authorization/permissions.ts'
import { lockOrganization } from '../../concurrency/lock-organization.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_BATCH_ROWS, MAX_NAME_LENGTH, MAX_OPEN_BATCHES, MAX_ROWS_A_REQUEST } from '../../limits.ts'
import { type ListPage, type PageRequest, readPage, type Window } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { checkSize, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { createFileError, type ReadParts, truncateText } from '../../validation/uploaded-files.ts'
import { completeTerms } from '../assessment-terms.ts'
import { resolveInviteReferences } from '../create-invite.ts'
import { withCurrentStatus } from '../expiry.ts'
import { checkNewInvite } from '../new-invite.ts'
import { findUnlistedHost } from '../return-url.ts'
import { type BatchTerms, type CheckedRow, checkRows, createRowReader, type ListRow, type RecipientRow } from './check-rows.ts'

// Invites many candidates at once. First a list is read and checked, which previews the result. After the start (control-batch.ts) its rows
// become invites (continue-batch.ts).

export type { BatchTerms, InviteBatchRowState }
export const BATCH_ROW_STATES = [
  'ready',
  'invited',
  'already',
  'repeated',
  'invalid',
  'refused',
] as const satisfies InviteBatchRowState[]

/** Milliseconds until a list that is still loading counts as failed. */
const LOADED_WITHIN_MS = 3_600_000
const MAX_LISTED = 20

/**
 * Checks a list of candidates and stores it while reading. Nobody is invited yet.
 *
 * @param list.terms apply to rows without their own value. @returns the batch's id.
 * @throws DomainError not_permitted; invalid as readList or completeTerms, or for invalid terms.
 */
export async function createBatch(
  ctx: Context,
  {
    assessmentId,
    readList,
    terms: enteredTerms,
    fileName = '',
  }: { assessmentId: string; readList: ReadRecipientList; terms: BatchTerms; fileName?: string },
): Promise<string> {
  const createdById = requireMember(ctx)
  const terms = await checkBatchTerms(ctx, { assessmentId, terms: enteredTerms })
  return loadBatch(ctx, { assessmentId, terms, createdById, fileName: truncateText(fileName, MAX_NAME_LENGTH) }, readList).catch(
    (error) => {
      if (violatedConstraint(error) !== 'invite_batches_assessment_fkey') throw error
      throwIfIssues([{ field: 'assessmentId', rule: 'reference', value: assessmentId }]) // deleted after it was looked up
      throw error
    },
  )
}

/** @returns the terms with the assessment's defaults. @throws DomainError not_permitted; invalid as completeTerms, or for invalid terms. */
export async function checkBatchTerms(
  ctx: Context,
  { assessmentId, terms: enteredTerms }: { assessmentId: string; terms: BatchTerms },
): Promise<BatchTerms> {
  requireMember(ctx)
  const terms = await completeTerms(ctx, assessmentId, enteredTerms)
  throwIfIssues(checkNewInvite({ assessmentId, recipientEmail: 'anybody@example.com', ...terms }))
  const { issues } = await resolveInviteReferences(ctx, { assessmentId, ...terms, tagIds: terms.tagIds ?? [] })
  throwIfIssues(issues)
  return terms
}

export type ReadRecipientList = ReadParts<ListRow, { unusedColumns: string[] }>

/** Each part is a transaction. After a failure the batch stays invisible, and {@link deleteUnfinishedBatches} deletes it. */
async function loadBatch(
  ctx: Context,
  batch: { assessmentId: string; terms: BatchTerms; createdById: string; fileName: string },
  readList: ReadRecipientList,
): Promise<string> {
  const readRows = createRowReader(ctx, batch.terms)
  const setting = { ...batch, firsts: new Map<string, number>() }
  let id: string | undefined
  let count = 0
  const { unusedColumns } = await readList(async (part) => {
    if (count + part.length > MAX_BATCH_ROWS) throw createFileError('list', 'tooManyRows', MAX_BATCH_ROWS)
    id ??= await storeHead(ctx, { ...batch, unusedColumns: [], isLoading: true })
    await storeRows(ctx, id, await checkRows(ctx, await readRows(part), count + 1, setting))
    count += part.length
  })
  if (id === undefined) throw createFileError('list', 'empty')
  await ctx.db.inviteBatch.updateMany({ where: { ...scopeWhere(ctx), id }, data: { unusedColumns, isLoading: false } })
  return id
}

/** Batch by API. @property terms apply to rows without their own value. */
export type BatchRequest = { assessmentId: string; rows: RecipientRow[]; terms: BatchTerms }

/**
 * Checks the rows and starts inviting the valid ones, in the name of an API key. Errors of a row become that row's outcome.
 *
 * @throws DomainError not_permitted; assessment_not_found; invalid for invalid terms, no rows, or too many rows; too_many_batches.
 */
export async function createAndStartBatch(ctx: Context, { assessmentId, rows, terms }: BatchRequest): Promise<Batch> {
  authorize(ctx, 'invite')
  if (ctx.actor.kind !== 'apiKey') throw new DomainError('not_permitted')
  const excess = checkSize('maxItems', rows.length, MAX_ROWS_A_REQUEST)
  throwIfIssues(findIssues([['invites', rows.length === 0 ? { rule: 'account', problem: 'empty' } : excess]]))
  throwIfIssues(checkNewInvite({ assessmentId, recipientEmail: 'anybody@example.com', ...terms }))
  const { assessment, issues } = await resolveInviteReferences(ctx, { assessmentId, ...terms, tagIds: terms.tagIds ?? [] })
  if (!assessment) throw new DomainError('assessment_not_found', { issues })
  throwIfIssues([...issues, ...(await findUnlistedHost(ctx, terms.returnUrl))])
  await refuseTooMany(ctx) // before the rows are checked; again under a lock when they are stored
  const { id: createdByKeyId, createdById } = ctx.actor
  const creation = { createdByKeyId, createdById, startedAt: ctx.deps.clock() }
  const id = await inTransaction(ctx, async (inside) => {
    const id = await storeBatch(inside, { assessmentId, terms, rows, unusedColumns: [], ...creation }, async (storing) => {
      await lockOrganization(storing)
      await refuseTooMany(storing)
    })
    await inside.deps.queue.enqueueInviteBatch(inside.db, { id, organizationId: ctx.organization.id })
    return id
  }).catch((error) => {
    if (violatedConstraint(error) !== 'invite_batches_assessment_fkey') throw error
    throw new DomainError('assessment_not_found') // deleted after it was looked up
  })
  return getBatch(ctx, id)
}

/** All organizations share the queue of batches: the limit keeps one from filling it. @throws DomainError too_many_batches. */
async function refuseTooMany(ctx: Context): Promise<void> {
  const unfinished = { ...scopeWhere(ctx), createdByKeyId: { not: null }, finishedAt: null, stoppedAt: null }
  if ((await ctx.db.inviteBatch.count({ where: unfinished })) >= MAX_OPEN_BATCHES) throw new DomainError('too_many_batches')
}

type BatchHead = {
  assessmentId: string
  terms: BatchTerms
  unusedColumns: string[]
  createdById: string | null
  fileName?: string
  createdByKeyId?: string
  startedAt?: Date
  isLoading?: boolean
}

/**
 * Checks the rows, and stores them.
 *
 * @param admit throws where no batch may be stored, in the transaction that stores it.
 * @returns the batch's id.
 */
async function storeBatch(
  ctx: Context,
  { rows, ...head }: BatchHead & { rows: RecipientRow[] },
  admit?: (storing: Context) => Promise<void>,
): Promise<string> {
  const checked = await checkRows(ctx, rows, 1, { ...head, firsts: new Map() })
  return inTransaction(ctx, async (inside) => {
    await admit?.(inside)
    const id = await storeHead(inside, head)
    await storeRows(inside, id, checked)
    return id
  })
}

/** @returns the batch's id. */
async function storeHead(ctx: Context, { terms, ...head }: BatchHead): Promise<string> {
  const { db, deps, organization } = ctx
  const id = deps.newId()
  const scope = { organizationId: organization.id, mode: modeOf(ctx) }
  await db.inviteBatch.create({ data: { ...scope, id, ...head, terms: { ...terms }, createdAt: deps.clock() } })
  return id
}

/** Lists are started in a member's name. @returns the member's id. @throws DomainError not_permitted. */
export function requireMember(ctx: Context): string {
  authorize(ctx, 'invite')
  if (ctx.actor.kind !== 'member') throw new DomainError('not_permitted')
  return ctx.actor.id
}

async function storeRows({ db, organization }: Context, batchId: string, rows: CheckedRow[]): Promise<void> {
  const key = { batchId, organizationId: organization.id }
  await insertRows(db, { inviteBatchRows: rows.map((row) => ({ ...key, ...row })) }).execute()
}

const include = {
  assessment: { select: { name: true } },
  createdBy: { select: { user: { select: { firstName: true, lastName: true, email: true } } } },
} satisfies Prisma.InviteBatchInclude

/** Batch with the number of its rows in each state. */
export type Batch = Prisma.InviteBatchGetPayload<{ include: typeof include }> & { counts: Record<InviteBatchRowState, number> }

/** @throws DomainError not_permitted, invite_batch_not_found. */
export async function getBatch(ctx: Context, id: string): Promise<Batch> {
  authorize(ctx, 'invite')
  const { db, organization } = ctx
  const where = { ...scopeWhere(ctx), id, isLoading: false }
  const batch = isUuid(id) ? await db.inviteBatch.findFirst({ where, include }) : null
  if (!batch) throw new DomainError('invite_batch_not_found')
  const groups = await db.inviteBatchRow.groupBy({
    by: ['state'],
    where: { organizationId: organization.id, batchId: id },
    _count: true,
  })
  const counts = { ready: 0, invited: 0, already: 0, repeated: 0, invalid: 0, refused: 0 }
  for (const { state, _count } of groups) counts[state] = _count
  return { ...batch, counts }
}

export type ListedBatch = Prisma.InviteBatchGetPayload<{ include: typeof include }>

/** The newest batches. @throws DomainError not_permitted. */
export async function listBatches(ctx: Context): Promise<ListedBatch[]> {
  authorize(ctx, 'invite')
  const where = { ...scopeWhere(ctx), isLoading: false }
  return ctx.db.inviteBatch.findMany({ where, include, orderBy: { id: 'desc' }, take: MAX_LISTED })
}

const rowInclude = {
  invite: { select: { status: true, expiresAt: true, updatedAt: true } },
} satisfies Prisma.InviteBatchRowInclude

/** Row with the status of its invite, created or existing. */
export type BatchRow = Prisma.InviteBatchRowGetPayload<{ include: typeof rowInclude }> & { status: InviteStatus | null }

/** The rows of a batch, in their order. @throws DomainError not_permitted, invite_batch_not_found. */
export async function listBatchRows(
  ctx: Context,
  { id, counts }: Batch,
  state: InviteBatchRowState | undefined,
  page: PageRequest,
  { areFaultsFirst = false } = {},
): Promise<ListPage<BatchRow>> {
  const total = Object.entries(counts).reduce(
    (sum, [rowState, count]) => (state === undefined || rowState === state ? sum + count : sum),
    0,
  )
  return readPage(
    page,
    async () => total,
    (window) => findRows(ctx, id, state === undefined ? {} : { state }, window, areFaultsFirst ? FAULTY_FIRST : undefined),
  )
}

/** Exports all rows of a batch, in their order. @throws DomainError too_many_exports. */
export const exportBatchRows = (ctx: Context, { id, assessmentId }: Batch, write: WriteBatch<BatchRow>): Promise<void> =>
  runExport(
    ctx,
    { action: 'exported_invite_batch', filter: { assessmentId } },
    (last) => findRows(ctx, id, { number: { gt: last?.number ?? 0 } }, { skip: 0, take: EXPORTED_AT_ONCE }),
    write,
  )

/** The states are declared in the schema from ready to refused. */
const FAULTY_FIRST = [{ state: 'desc' }, { number: 'asc' }] satisfies Prisma.InviteBatchRowOrderByWithRelationInput[]

async function findRows(
  { db, organization, deps }: Context,
  batchId: string,
  filter: Prisma.InviteBatchRowWhereInput,
  window: Window,
  orderBy: Prisma.InviteBatchRowOrderByWithRelationInput[] = [{ number: 'asc' }],
): Promise<BatchRow[]> {
  const rows = await db.inviteBatchRow.findMany({
    where: { organizationId: organization.id, batchId, ...filter },
    orderBy,
    include: rowInclude,
    relationLoadStrategy: 'join',
    ...window,
  })
  return rows.map((row) => ({ ...row, status: row.invite && withCurrentStatus(row.invite, deps.clock()).status }))
}

/** Deletes lists that were never read to their end. */
export async function deleteUnfinishedBatches({ db, deps }: ServiceContext): Promise<void> {
  const createdAt = { lte: new Date(deps.clock().getTime() - LOADED_WITHIN_MS) }
  await db.inviteBatch.deleteMany({ where: { isLoading: true, createdAt } })
}
