import type { Context } from '../context.ts'
import type { LastChange } from '../errors.ts'
import type { SeenAt, SeenVersion } from '../validation/refuse-unseen-changes.ts'
import type { AuditAction } from './record-audit.ts'

/**
 * Audit entries that record a change.
 *
 * @property targetId undefined: it is the organization's own. @property language of what has a text in each; undefined: of any.
 */
type RecordedAs = { action: AuditAction; targetId?: string; language?: string }

/** A version of a row whose changes are recorded so. @param seen undefined: whoever writes has not looked, and writes whatever the row is. */
export const versionOf = (
  ctx: Context,
  { updatedAt, seen, ...recorded }: RecordedAs & { updatedAt: Date; seen: SeenAt | undefined },
): SeenVersion => ({
  isAsSeen: seen === undefined || updatedAt.getTime() === seen.getTime(),
  findBy: () => findLastChange(ctx, { ...recorded, updatedAt }),
})

/**
 * Author of a row's last change, if the audit log has it: most changes by API keys are not recorded.
 *
 * @param updatedAt time of the change; undefined if every change is recorded: the last one.
 */
export async function findLastChange(
  { db, organization, actor }: Context,
  { action, targetId, language, updatedAt }: RecordedAs & { updatedAt?: Date },
): Promise<LastChange | undefined> {
  const organizationId = organization.id
  const where = {
    ...{ organizationId, action, ...(targetId !== undefined && { targetId }) },
    // The time of a change may have been put off, so that versions differ.
    ...(updatedAt && { at: { gte: new Date(updatedAt.getTime() - 1) } }),
    ...(language !== undefined && { details: { path: ['language'], equals: language } }),
  }
  const entry = await db.auditEntry.findFirst({ where, orderBy: [{ at: 'desc' }, { id: 'desc' }] })
  if (!entry) return undefined
  const isOwn = 'id' in actor && entry.actorId === actor.id
  const one = { organizationId, id: entry.actorId ?? '' }
  const member = entry.actorKind === 'member' ? await db.member.findFirst({ where: one, select: { email: true } }) : null
  const key = entry.actorKind === 'apiKey' ? await db.apiKey.findFirst({ where: one, select: { name: true } }) : null
  return { name: member?.email ?? key?.name ?? null, isOwn, at: entry.at }
}
