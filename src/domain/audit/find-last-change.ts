import type { Seen, Version } from '../checking/refuse-unseen-changes.ts'
import type { Context } from '../context.ts'
import type { LastChange } from '../errors.ts'
import type { AuditAction } from './record-audit.ts'

/** How a change is recorded. @property targetId undefined: it is the organization's own. */
type RecordedAs = { action: AuditAction; targetId?: string }

/** A version of a row whose changes are recorded so. */
export const versionOf = (
  ctx: Context,
  { updatedAt, seen, ...recorded }: RecordedAs & { updatedAt: Date; seen: Seen | undefined },
): Version => ({ updatedAt, seen, findBy: () => findLastChange(ctx, { ...recorded, updatedAt }) })

/** Who made the change that a row was last changed by, as far as the audit log knows: much of what API keys do is not in it. */
async function findLastChange(
  { db, organization, actor }: Context,
  { action, targetId, updatedAt }: RecordedAs & { updatedAt: Date },
): Promise<LastChange | undefined> {
  const organizationId = organization.id
  // The time of a change may have been put off, so that versions differ.
  const at = { gte: new Date(updatedAt.getTime() - 1) }
  const where = { organizationId, action, at, ...(targetId !== undefined && { targetId }) }
  const entry = await db.auditEntry.findFirst({ where, orderBy: [{ at: 'desc' }, { id: 'desc' }] })
  if (!entry) return undefined
  const isOwn = 'id' in actor && entry.actorId === actor.id
  const one = { organizationId, id: entry.actorId ?? '' }
  const member = entry.actorKind === 'member' ? await db.member.findFirst({ where: one, select: { email: true } }) : null
  const key = entry.actorKind === 'apiKey' ? await db.apiKey.findFirst({ where: one, select: { name: true } }) : null
  return { name: member?.email ?? key?.name ?? null, isOwn, at: entry.at }
}
