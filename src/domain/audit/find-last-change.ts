import type { Context } from '../context.ts'
import type { LastChange } from '../errors.ts'
import type { SeenAt, SeenVersion } from '../validation/refuse-unseen-changes.ts'
import type { AuditAction } from './record-audit.ts'

/**
 * Audit entries that record a change of a row.
 *
 * @property targetId undefined: the organization itself. @property language for rows with a text per language; undefined: any.
 */
type RecordedAs = { action: AuditAction; targetId?: string; language?: string }

/** Version of a row whose changes are in the audit log. @param seen undefined: overwrite any change. */
export const versionOf = (
  ctx: Context,
  { updatedAt, seen: seenAt, ...recorded }: RecordedAs & { updatedAt: Date; seen: SeenAt | undefined },
): SeenVersion => ({
  isAsSeen: seenAt === undefined || updatedAt.getTime() === seenAt.getTime(),
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
  const actorWhere = { organizationId, id: entry.actorId ?? '' }
  const member = entry.actorKind === 'member' ? await db.member.findFirst({ where: actorWhere, select: { email: true } }) : null
  const key = entry.actorKind === 'apiKey' ? await db.apiKey.findFirst({ where: actorWhere, select: { name: true } }) : null
  return { name: member?.email ?? key?.name ?? null, isOwn, at: entry.at }
}
