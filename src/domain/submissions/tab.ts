import type { PreparedSession } from './session.ts'

/** From now on this tab of the candidate's may write, and no other. */
export async function takeOver({ ctx, submission }: PreparedSession, tab: string): Promise<void> {
  const { db, deps, organization } = ctx
  const where = { organizationId: organization.id, id: submission.id }
  await db.submission.updateMany({ where, data: { tab, updatedAt: deps.clock() } })
}
