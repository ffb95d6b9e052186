import type { Context } from '../context.ts'
import { folderOf } from '../files/media-keys.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { hasReceiptLine, type LogReader, parseObject } from './receipts.ts'

// The receipt of an organization is a line of the log outside of the database, where nothing of it is left. It holds no names.

export type OrganizationCounts = Partial<
  Record<'invites' | 'submissions' | 'media' | 'assessments' | 'members' | 'accounts' | 'otherRows', number>
>

/** A line of the erasure log. Times are ISO. It contains no code of an address. */
export type OrganizationLine = {
  id: string
  organizationId: string
  subject: 'organization'
  actor: { kind: string; id: string | null }
  requestedAt: string
  finishedAt: string
  backupsUntil: string
  counts: OrganizationCounts
  stays: string[]
}

/** Retained data. */
const STAYS = ['accounts_of_other_organizations', 'receipts']

/** Reads the erased organizations from the log, one line per erasure, oldest first. */
export async function readOrganizationLines({ deps }: LogReader): Promise<OrganizationLine[]> {
  const byId = new Map<string, OrganizationLine>()
  for await (const text of (await deps.erasureLog.read()) ?? []) {
    const line = parse(text)
    if (line && !byId.has(line.id)) byId.set(line.id, line)
  }
  return [...byId.values()].reverse()
}

function parse(text: string): OrganizationLine | null {
  const line = parseObject(text) as Partial<OrganizationLine> | null
  return line?.subject === 'organization' && typeof line.id === 'string' ? (line as OrganizationLine) : null
}

/**
 * Writes the receipt to the log, then deletes the organization's row. After a crash in between, the repeated job finds the log line.
 *
 * @throws errors of the erasure log.
 */
export async function writeOrganizationReceipt(ctx: Context, suspensionId: string): Promise<void> {
  const suspension = await ctx.db.organizationSuspension.findUnique({
    where: { organizationId: ctx.organization.id, id: suspensionId },
    select: { requestedAt: true },
  })
  if (!suspension) return
  const isKnown = await hasReceiptLine(ctx, { id: suspensionId, since: suspension.requestedAt })
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const suspensionRow = inside.db.selectFrom('organizationSuspensions').where('id', '=', suspensionId)
    if (!(await suspensionRow.select('id').forUpdate().executeTakeFirst())) return
    const suspension = await db.organizationSuspension.findUniqueOrThrow({ where: { organizationId: organization.id } })
    const finishedAt = deps.clock()
    const line: OrganizationLine = {
      ...{ id: suspensionId, organizationId: organization.id, subject: 'organization' },
      actor: { kind: suspension.actorKind, id: suspension.actorId },
      requestedAt: suspension.requestedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      backupsUntil: daysAfter(finishedAt, deps.backupsKeptDays).toISOString(),
      counts: suspension.counts as OrganizationCounts,
      stays: STAYS,
    }
    if (!isKnown) await deps.erasureLog.append(JSON.stringify(line))
    await db.organization.delete({ where: { id: organization.id } })
    // Rows of files leave behind where these lie, for a sweep that has nothing left to do.
    await db.deletedMediaFile.deleteMany({ where: { key: { startsWith: folderOf(organization.id) } } })
  })
}
