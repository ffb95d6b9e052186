import type { Deps, ServiceContext } from '../context.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import type { ErasureRef } from './erasing.ts'
import { type ErasedCounts, RETAINED_DATA, RETAINED_MEMBER_DATA, type Subject, toErasure } from './erasures.ts'

// Receipts lie in the database and, a line each, outside of it. Neither holds an address.

/**
 * A line of the erasure log. @property code HMAC of the address, base64url. @property memberId of an erased member. Times are
 * ISO.
 */
export type ReceiptLine = {
  id: string
  organizationId: string
  subject: Exclude<Subject, 'retention'>
  code: string
  memberId?: string
  actor: { kind: string; id: string | null }
  requestedAt: string
  finishedAt: string
  backupsUntil: string
  counts: ErasedCounts
  stays: string[]
}

export type LogReader = Pick<ServiceContext, 'db'> & { deps: Pick<Deps, 'erasureLog'> }

/** Last log line of each erasure, oldest first. Skips invalid lines, such as one torn by a crash. Null if there is no log. */
export async function readReceiptLines({ deps }: LogReader): Promise<ReceiptLine[] | null> {
  const texts = await deps.erasureLog.read()
  if (!texts) return null
  const byId = new Map<string, ReceiptLine>()
  for await (const text of texts) {
    const line = parse(text)
    if (line && !byId.has(line.id)) byId.set(line.id, line)
  }
  return [...byId.values()].reverse()
}

/** Processes' clocks may differ by no more than this. */
const CLOCKS_DAYS = 1

/** True if the log has a line of the erasure. @param since when it was requested; earlier lines are not searched. */
export async function hasReceiptLine({ deps }: LogReader, { id, since }: { id: string; since: Date }): Promise<boolean> {
  const earliest = daysAfter(since, -CLOCKS_DAYS).toISOString()
  for await (const text of (await deps.erasureLog.read()) ?? []) {
    const line = parseObject(text)
    if (line?.id === id) return true
    if (typeof line?.finishedAt === 'string' && line.finishedAt < earliest) return false
  }
  return false
}

/** Parses a line. Null for a line torn by a crash: its erasure has another line or is unfinished. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null
  } catch {
    return null
  }
}

function parse(text: string): ReceiptLine | null {
  const line = parseObject(text) as Partial<ReceiptLine> | null
  return typeof line?.id === 'string' && typeof line.organizationId === 'string' && typeof line.code === 'string'
    ? (line as ReceiptLine)
    : null
}

/** @property mayBeKnown whether it was at its receipt before: else the log, which may be long, is not read. */
export type Receipt = { mayBeKnown: boolean }

/**
 * Writes the receipt to the log, then to the database. After a crash in between, the repeated job finds the log line. If two processes
 * wrote a line each, the last one counts.
 *
 * @throws errors of the erasure log.
 */
export async function writeReceipt({ ctx, id, mayBeKnown }: ErasureRef & Receipt): Promise<void> {
  const where = { organizationId_id: { organizationId: ctx.organization.id, id } }
  const { createdAt: since } = await ctx.db.erasure.findUniqueOrThrow({ where, select: { createdAt: true } })
  const isKnown = mayBeKnown && (await hasReceiptLine(ctx, { id, since }))
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const running = inside.db.selectFrom('erasures').where('id', '=', id).where('finishedAt', 'is', null)
    if (!(await running.select('id').forUpdate().executeTakeFirst())) return
    const row = await db.erasure.findUniqueOrThrow({ where })
    const { counts, ofMember, createdAt, actorKind, actorId } = toErasure(row)
    const isMember = row.subject === 'member'
    const finishedAt = deps.clock()
    const backupsUntil = daysAfter(finishedAt, deps.backupsKeptDays)
    const line: ReceiptLine = {
      ...{ id, organizationId: organization.id, subject: isMember ? 'member' : 'candidate' },
      code: Buffer.from(row.addressHmac).toString('base64url'),
      ...(row.memberId !== null && { memberId: row.memberId }),
      actor: { kind: actorKind, id: actorId },
      requestedAt: createdAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      backupsUntil: backupsUntil.toISOString(),
      counts: isMember ? { ...counts, ...ofMember } : counts,
      stays: [...(isMember ? RETAINED_MEMBER_DATA : RETAINED_DATA)],
    }
    if (!isKnown) await deps.erasureLog.append(JSON.stringify(line))
    const finishing = inside.db.updateTable('erasures').where('id', '=', id)
    await finishing.set({ step: 'receipt', finishedAt, backupsUntil, encryptedAddress: null }).execute()
  })
}
