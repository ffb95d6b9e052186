import type { Context } from '../../context.ts'
import { nameOf } from '../../text/name-of.ts'

/** Whoever was there within so long is there still. */
const HERE_MS = 2 * 60_000

/** Keeps that the context's member is at the sheet of a submission. */
export async function noteViewer({ actor, db, deps }: Context, submissionId: string): Promise<void> {
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

/** The names of the others who are at it now. */
export async function findOtherViewers({ actor, db, deps, organization }: Context, submissionId: string): Promise<string[]> {
  if (actor.kind !== 'member') return []
  const since = new Date(deps.clock().getTime() - HERE_MS)
  const others = await db.gradingViewer.findMany({
    where: { organizationId: organization.id, submissionId, memberId: { not: actor.id }, lastSeenAt: { gt: since } },
    include: { member: { include: { user: true } } },
    orderBy: { memberId: 'asc' },
  })
  return others.map(({ member }) => nameOf(member.user))
}
