import { sql } from '../../db/builder.ts'
import { anyOfIds } from '../../db/queries.ts'
import { anyOf, escapeLike } from '../../db/query.ts'
import type { AuditEntry } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import { addressOrFormer, FORMER_MEMBER } from '../loaders/former-members.ts'
import { isUuid } from '../text/uuid.ts'
import { addressEquals } from '../validation/address-equals.ts'
import { toStoredAddress } from '../validation/email-address.ts'
import type { AuditAction } from './record-audit.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from './run-export.ts'

export type { AuditEntry }
export type AuditFilter = {
  /** The address of a member or the name of an API key, in either case. */
  who?: string
  action?: AuditAction
  /** From then on, and before then. */
  from?: Date
  to?: Date
  /** Only entries of this bulk change. Null: only entries outside of bulk changes. */
  bulkChangeId?: string | null
  /** Only entries older than the entry with this id. */
  before?: string
}

/** Page of the audit log. `names`: names of actors, targets, and ids in the details, by id. */
export type AuditPage = { entries: AuditEntry[]; names: Map<string, string>; hasOlder: boolean }

/**
 * Audit entries, newest first; in test mode those of test data. Each page is read from an index.
 *
 * @throws DomainError not_permitted.
 */
export async function listAuditEntries(ctx: Context, { before, ...filter }: AuditFilter, limit: number): Promise<AuditPage> {
  authorize(ctx, 'read_audit_log')
  const where = { organizationId: ctx.organization.id, id: before ?? '' }
  const last = isUuid(where.id) ? await ctx.db.auditEntry.findFirst({ where }) : null
  const found = await findEntries(ctx, filter, last, limit + 1)
  const entries = found.slice(0, limit)
  const named = entries.flatMap(({ details, targetId }) => [...idsIn(details), ...(targetId ? [targetId] : [])])
  const inDetails = await findNamesOfAny(ctx, [...new Set(named)])
  const names = new Map([...inDetails, ...(await findNames(ctx, collectIds(entries)))])
  return { entries, names, hasOlder: found.length > limit }
}

/** An entry with the address of the member, or the name of the key, that it is by and about, as far as they are known. */
export type NamedAuditEntry = AuditEntry & { actorName: string | undefined; targetName: string | undefined }
/** @property cursor position up to which all entries were returned, for the next request; also set without entries. */
export type AuditFeedPage = { entries: NamedAuditEntry[]; cursor: bigint; hasMore: boolean }

/**
 * The entries behind the cursor in the order in which they were committed, each once; without a cursor from the oldest that is kept.
 *
 * @throws DomainError not_permitted.
 */
export async function readAuditFeed(ctx: Context, { cursor, limit }: { cursor: bigint; limit: number }): Promise<AuditFeedPage> {
  authorize(ctx, 'read_audit_log')
  // One entry more than the page tells whether there is a next page.
  const found = await ctx.db.auditEntry.findMany({
    where: { ...whereLog(ctx), position: { gt: cursor } },
    orderBy: { position: 'asc' },
    take: limit + 1,
  })
  const entries = await withNames(ctx, found.slice(0, limit))
  return { entries, cursor: entries.at(-1)?.position ?? cursor, hasMore: found.length > limit }
}

const whereLog = ({ organization, mode }: Context) => ({ organizationId: organization.id, ...(mode === 'test' && { mode }) })

async function withNames(ctx: Context, entries: AuditEntry[]): Promise<NamedAuditEntry[]> {
  const names = await findNames(ctx, collectIds(entries))
  const nameOf = (id: string | null) => names.get(id ?? '')
  return entries.map((entry) => ({ ...entry, actorName: nameOf(entry.actorId), targetName: nameOf(entry.targetId) }))
}

/** Exports the entries of the log, the newest first. @throws DomainError not_permitted, too_many_exports. */
export async function exportAuditLog(
  ctx: Context,
  { before: _, ...filter }: AuditFilter,
  write: WriteBatch<NamedAuditEntry>,
): Promise<void> {
  authorize(ctx, 'read_audit_log')
  const { who, action, from, to } = filter
  const find = async (last: NamedAuditEntry | undefined): Promise<NamedAuditEntry[]> =>
    withNames(ctx, await findEntries(ctx, filter, last ?? null, EXPORTED_AT_ONCE))
  await runExport(
    ctx,
    { action: 'exported_audit_log', filter: { who, action, from: from?.toISOString(), to: to?.toISOString() } },
    find,
    write,
  )
}

/** @param last reads entries older than this; null: from the newest. */
async function findEntries(
  ctx: Context,
  { who, action, from, to, bulkChangeId }: Omit<AuditFilter, 'before'>,
  last: Pick<AuditEntry, 'at' | 'id'> | null,
  take: number,
): Promise<AuditEntry[]> {
  if (bulkChangeId && !isUuid(bulkChangeId)) return []
  const actorIds = who === undefined ? undefined : await findActorIds(ctx, who)
  return ctx.db.auditEntry.findMany({
    where: {
      ...whereLog(ctx),
      ...(actorIds && { actorId: anyOf(actorIds) }),
      ...(action && { action }),
      ...(bulkChangeId !== undefined && { bulkChangeId }),
      AND: [{ at: { ...(from && { gte: from }), ...(to && { lt: to }) } }],
      // The first condition can use an index.
      ...(last && { at: { lte: last.at }, OR: [{ at: { lt: last.at } }, { id: { lt: last.id } }] }),
    },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take,
  })
}

async function findActorIds({ db, organization }: Context, who: string): Promise<string[]> {
  const where = { organizationId: organization.id }
  const membersWithAddress = db.selectFrom('members').where(({ ref }) => addressEquals(ref('email'), toStoredAddress(who)))
  const members = await membersWithAddress.select('id').execute()
  const keys = await db.apiKey.findMany({
    where: { ...where, name: { equals: escapeLike(who), mode: 'insensitive' } },
    select: { id: true },
  })
  return [...members, ...keys].map(({ id }) => id)
}

/** The members and API keys that entries are by or about. */
function collectIds(entries: AuditEntry[]): { memberIds: string[]; keyIds: string[] } {
  const idsOf = (kind: string, wanted: string) =>
    entries.flatMap(({ actorKind, actorId, targetKind, targetId }) => [
      ...(actorKind === kind && actorId ? [actorId] : []),
      ...(targetKind === wanted && targetId ? [targetId] : []),
    ])
  return { memberIds: idsOf('member', 'member'), keyIds: idsOf('apiKey', 'api_key') }
}

/** The addresses of members of the organization, and the names of its API keys, by their ids. */
export async function findNames(
  { db, organization }: Context,
  { memberIds, keyIds }: { memberIds: string[]; keyIds: string[] },
): Promise<Map<string, string>> {
  const where = (ids: string[]) => ({ organizationId: organization.id, id: anyOf(ids) })
  const members = await db.member.findMany({ where: where(memberIds), select: { id: true, email: true, erasedAt: true } })
  const keys = await db.apiKey.findMany({ where: where(keyIds), select: { id: true, name: true } })
  return new Map([
    ...members.map(({ id, email, erasedAt }) => [id, erasedAt ? FORMER_MEMBER : email] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
  ])
}

/** Details contain any JSON that was recorded with the action, see AuditEvent. */
function idsIn(details: unknown): string[] {
  if (typeof details === 'string') return isUuid(details) ? [details] : []
  return typeof details === 'object' && details !== null ? Object.values(details).flatMap(idsIn) : []
}

/**
 * Names of rows by their ids: members by address, API keys, tags, assessments, and invites by candidate. Deleted rows are
 * missing.
 */
async function findNamesOfAny(ctx: Context, ids: string[]): Promise<[id: string, name: string][]> {
  if (ids.length === 0) return []
  const members = ctx.db
    .selectFrom('members')
    .select(({ ref }) => ['id', addressOrFormer({ email: ref('email'), erasedAt: ref('erasedAt') }, FORMER_MEMBER).as('name')])
    .where('id', '=', anyOfIds(ids))
  const keys = ctx.db.selectFrom('apiKeys').select(['id', 'name']).where('id', '=', anyOfIds(ids))
  const bothModes = inMode(ctx, 'all')
  const tags = bothModes.db.selectFrom('tags').select(['id', 'name']).where('id', '=', anyOfIds(ids))
  const assessments = ctx.db.selectFrom('assessments').select(['id', 'name']).where('id', '=', anyOfIds(ids))
  const invites = bothModes.db
    .selectFrom('invites')
    .select((eb) => ['id', sql<string>`coalesce(nullif(${eb.ref('recipientName')}, ''), ${eb.ref('recipientEmail')})`.as('name')])
    .where('id', '=', anyOfIds(ids))
  const found = await members.unionAll(keys).unionAll(tags).unionAll(assessments).unionAll(invites).execute()
  return found.map(({ id, name }) => [id, name])
}
