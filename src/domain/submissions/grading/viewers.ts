import type { Context } from '../../context.ts'
import { nameOf } from './grades.ts'

/** Whoever was there within so long is there still. */
const HERE_MS = 2 * 60_000

/** Keeps that the context's member is at the sheet of a submission. */
export async function noteViewer({ actor, db, deps, organization }: Context, submissionId: string): Promise<void> {
  if (actor.kind !== 'member') return
  await db.$executeRaw`
    INSERT INTO grade_viewers (submission_id, member_id, organization_id, seen_at)
    VALUES (${submissionId}::uuid, ${actor.id}::uuid, ${organization.id}::uuid, ${deps.clock()})
    ON CONFLICT (submission_id, member_id) DO UPDATE SET seen_at = excluded.seen_at`
}

/** The names of the others who are at it now. */
export async function findOtherViewers({ actor, db, deps, organization }: Context, submissionId: string): Promise<string[]> {
  if (actor.kind !== 'member') return []
  const since = new Date(deps.clock().getTime() - HERE_MS)
  const others = await db.gradeViewer.findMany({
    where: { organizationId: organization.id, submissionId, memberId: { not: actor.id }, seenAt: { gt: since } },
    include: { member: { include: { user: true } } },
    orderBy: { memberId: 'asc' },
  })
  return others.map(({ member }) => nameOf(member.user))
}
