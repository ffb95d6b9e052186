import { anyOf, equalsText } from '../../db/query.ts'
import type { AuditEntry } from '../../generated/prisma/client.ts'
import type { AuditAction } from '../audit.ts'
import type { Context } from '../context.ts'
import { isUuid } from '../uuid.ts'
import { authorize } from './permissions.ts'

export type { AuditEntry }
export type AuditFilter = {
  /** The address of a member or the name of an API key, in either case. */
  who?: string
  action?: AuditAction
  /** Only what is older than the entry with this id. */
  before?: string
}

/** A page of the audit log, with the names of the members and API keys that its entries are by or about, by their ids. */
export type AuditPage = { entries: AuditEntry[]; names: Map<string, string>; hasOlder: boolean }

/**
 * What was done in the organization, the newest first. A page is read from its place in an index, however long the log is.
 *
 * @throws DomainError not_permitted.
 */
export async function listAuditEntries(ctx: Context, { who, action, before }: AuditFilter, limit: number): Promise<AuditPage> {
  authorize(ctx, 'read_audit_log')
  const { db, organization } = ctx
  const organizationId = organization.id
  const actorIds = who === undefined ? undefined : await findActorIds(ctx, who)
  const last =
    before !== undefined && isUuid(before) ? await db.auditEntry.findFirst({ where: { organizationId, id: before } }) : null
  const found = await db.auditEntry.findMany({
    where: {
      organizationId,
      ...(actorIds && { actorId: anyOf(actorIds) }),
      ...(action && { action }),
      // The first condition is what an index can be entered by.
      ...(last && { at: { lte: last.at }, OR: [{ at: { lt: last.at } }, { id: { lt: last.id } }] }),
    },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  const entries = found.slice(0, limit)
  return { entries, names: await findNames(ctx, namedBy(entries)), hasOlder: found.length > limit }
}

async function findActorIds({ db, organization }: Context, who: string): Promise<string[]> {
  const where = { organizationId: organization.id }
  const members = await db.member.findMany({ where: { ...where, email: equalsText(who) }, select: { id: true } })
  const keys = await db.apiKey.findMany({ where: { ...where, name: equalsText(who) }, select: { id: true } })
  return [...members, ...keys].map(({ id }) => id)
}

/** The members and API keys that entries are by or about. */
function namedBy(entries: AuditEntry[]): { memberIds: string[]; keyIds: string[] } {
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
  const members = await db.member.findMany({ where: where(memberIds), select: { id: true, email: true } })
  const keys = await db.apiKey.findMany({ where: where(keyIds), select: { id: true, name: true } })
  return new Map([...members.map(({ id, email }) => [id, email] as const), ...keys.map(({ id, name }) => [id, name] as const)])
}
