import type { Context } from '../../context.ts'
import { displayNameOf } from '../../text/display-name.ts'

/** Milliseconds after the last request for which a grader counts as present. */
const PRESENT_MS = 2 * 60_000

/** Records that the member has the submission open. */
export async function recordViewer({ actor, db, deps }: Context, submissionId: string): Promise<void> {
  if (actor.kind !== 'member' || actor.viaKey) return
  const insertionOrChange = db
    .insertInto('gradingViewers')
    .values({ submissionId, memberId: actor.id, lastSeenAt: deps.clock() })
    .onConflict((conflict) =>
      conflict
        .columns(['organizationId', 'submissionId', 'memberId'])
        .doUpdateSet((eb) => ({ lastSeenAt: eb.ref('excluded.lastSeenAt') })),
    )
  await insertionOrChange.execute()
}

/** Names of other graders who have the submission open. */
export async function findOtherViewers({ actor, db, deps, organization }: Context, submissionId: string): Promise<string[]> {
  if (actor.kind !== 'member') return []
  const presentSince = new Date(deps.clock().getTime() - PRESENT_MS)
  const otherViewers = await db.gradingViewer.findMany({
    where: { organizationId: organization.id, submissionId, memberId: { not: actor.id }, lastSeenAt: { gt: presentSince } },
    include: { member: { include: { user: true } } },
    orderBy: { memberId: 'asc' },
  })
  return otherViewers.map(({ member }) => displayNameOf(member.user))
}
