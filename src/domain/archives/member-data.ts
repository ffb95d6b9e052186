import { unscopedPrisma } from '../../db/unscoped.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'

// Stored data about a member. Candidates and other members appear by id only.

const ROWS_AT_ONCE = 1_000

const include = {
  user: true,
  tags: { orderBy: { position: 'asc' }, select: { tag: { select: { name: true } } } },
  gradingLanguages: { orderBy: { position: 'asc' }, select: { language: { select: { code: true } } } },
  emails: { orderBy: { id: 'asc' }, select: { kind: true, state: true, reason: true, createdAt: true, sentAt: true } },
  savedFilters: { orderBy: { id: 'asc' }, select: { name: true, createdAt: true } },
  identities: {
    orderBy: { id: 'asc' },
    select: { issuer: true, subject: true, lastEmail: true, linkedAt: true, lastUsedAt: true },
  },
  credential: {
    select: {
      ...{ email: true, language: true, createdAt: true, passwordChangedAt: true },
      sessions: {
        orderBy: { id: 'asc' },
        select: { userAgent: true, network: true, createdAt: true, lastSeenAt: true, expiresAt: true, endedAt: true },
      },
      devices: {
        orderBy: { id: 'asc' },
        select: { userAgent: true, network: true, createdAt: true, lastSeenAt: true, trustedUntil: true },
      },
      secondFactors: { orderBy: { id: 'asc' }, select: { name: true, createdAt: true, lastUsedAt: true } },
    },
  },
} satisfies Prisma.MemberInclude

export type ArchivedMember = Prisma.MemberGetPayload<{ include: typeof include }>

/** @property isOwn whether it is they who ask. */
export type MemberArchiveRequest = { memberId: string; isOwn: boolean }

/**
 * Sign-in data are included only if no other organization has the person as a member.
 *
 * @returns null: no such member.
 */
export async function readArchivedMember(
  { db, organization }: Context,
  request: MemberArchiveRequest,
): Promise<ArchivedMember | null> {
  const where = { organizationId: organization.id, id: request.memberId, erasedAt: null }
  const member = await db.member.findFirst({ where, include })
  if (!member?.credentialId || request.isOwn) return member
  const { credentialId } = member
  const otherMemberships = await unscopedPrisma(db).member.count({
    where: { credentialId, organizationId: { not: organization.id } },
  })
  return otherMemberships === 0 ? member : { ...member, credential: null }
}

/** Actions, oldest first, in batches, without details about others. */
export async function* readArchivedActions(ctx: Context, memberId: string) {
  for (let last: string | undefined; ; ) {
    let page = ctx.db.selectFrom('auditEntries').where('actorId', '=', memberId)
    if (last !== undefined) page = page.where('id', '>', last)
    const columns = ['id', 'at', 'action', 'targetKind', 'targetId', 'address', 'userAgent', 'sessionId'] as const
    const rows = await page.select(columns).orderBy('id').limit(ROWS_AT_ONCE).execute()
    yield rows
    last = rows.at(-1)?.id
    if (rows.length < ROWS_AT_ONCE) return
  }
}

/** The points they have given, oldest first, some at a time. */
export async function* readGradesByMember(ctx: Context, memberId: string) {
  for (let last: string | undefined; ; ) {
    let page = ctx.db.selectFrom('grades').where('graderId', '=', memberId)
    if (last !== undefined) page = page.where('id', '>', last)
    const columns = ['id', 'submissionId', 'questionNumber', 'round', 'points', 'createdAt', 'updatedAt'] as const
    const rows = await page.select(columns).orderBy('id').limit(ROWS_AT_ONCE).execute()
    yield rows
    last = rows.at(-1)?.id
    if (rows.length < ROWS_AT_ONCE) return
  }
}
