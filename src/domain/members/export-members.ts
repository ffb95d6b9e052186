import { anyOf } from '../../db/query.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../audit/run-export.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { validateFilter } from '../lists/filters.ts'
import { applyFilters } from '../lists/listing.ts'
import { FORMER_MEMBER } from '../loaders/former-members.ts'
import { type MemberFilter, memberList, toMemberConditions } from './members.ts'

const include = {
  user: { select: { firstName: true, lastName: true } },
  tags: { select: { tag: { select: { name: true } } }, orderBy: { position: 'asc' } },
  credential: { select: { secondFactors: { select: { kind: true } } } },
  gradingLanguages: { select: { language: { select: { code: true } } }, orderBy: { position: 'asc' } },
} satisfies Prisma.MemberInclude

type Found = Prisma.MemberGetPayload<{ include: typeof include }>
/**
 * Member for access reviews, with names of tags and codes of grading languages.
 *
 * @property lastSignedInAt at the portal, as far back as the audit log goes. @property invitedBy address of a member, or another inviter; null if the
 *   audit log does not go back as far.
 */
export type ExportedMember = Found & { lastSignedInAt: Date | null; invitedBy: string | null }

/** Exports the members that match the filter, in the order of their ids. @throws DomainError not_permitted; invalid; too_many_exports. */
export async function exportMembers(ctx: Context, filter: MemberFilter, write: WriteBatch<ExportedMember>): Promise<void> {
  authorize(ctx, 'manage_members')
  validateFilter(filter)
  const { status, roles = {}, portalRole, search } = filter
  const exported = {
    action: 'exported_members',
    filter: { status, role: [...(portalRole ? [portalRole] : []), ...Object.keys(roles)].join(', '), search },
  } as const
  const find = async (last: ExportedMember | undefined) => {
    const after = last ? ctx.db.selectFrom('members').where('id', '>', last.id) : ctx.db.selectFrom('members')
    const members = applyFilters(ctx.db, after, memberList, toMemberConditions(filter))
    const found = await members.select('id').orderBy('id').limit(EXPORTED_AT_ONCE).execute()
    const batch = await ctx.db.member.findMany({
      where: { organizationId: ctx.organization.id, id: anyOf(found.map(({ id }) => id)) },
      orderBy: { id: 'asc' },
      include,
      relationLoadStrategy: 'join',
    })
    return withHistory(ctx, batch)
  }
  await runExport(ctx, exported, find, write)
}

/** Adds facts from the audit log. */
async function withHistory({ db, organization }: Context, members: Found[]): Promise<ExportedMember[]> {
  const ids = members.map(({ id }) => id)
  const ofMembers = { organizationId: organization.id, actorId: anyOf(ids), action: 'signed_in' }
  const signIns = await db.auditEntry.groupBy({ by: ['actorId'], where: ofMembers, _max: { at: true } })
  const invitations = await db.auditEntry.findMany({
    where: { organizationId: organization.id, action: 'invited_member', targetId: anyOf(ids) },
    orderBy: { at: 'asc' },
    select: { targetId: true, actorKind: true, actorId: true },
  })
  const inviterIds = invitations.flatMap(({ actorId }) => actorId ?? [])
  const inviters = await db.member.findMany({
    where: { organizationId: organization.id, id: anyOf(inviterIds) },
    select: { id: true, email: true, erasedAt: true },
  })
  const emails = new Map(inviters.map(({ id, email, erasedAt }) => [id, erasedAt ? FORMER_MEMBER : email]))
  const lastAt = new Map(signIns.map(({ actorId, _max }) => [actorId, _max.at]))
  const inviterOf = new Map(
    invitations.map(({ targetId, actorKind, actorId }) => [targetId, emails.get(actorId ?? '') ?? actorKind]),
  )
  return members.map((member) => ({
    ...member,
    lastSignedInAt: lastAt.get(member.id) ?? null,
    invitedBy: inviterOf.get(member.id) ?? null,
  }))
}
