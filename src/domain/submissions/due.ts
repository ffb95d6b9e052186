import type { Context, ServiceContext } from '../context.ts'
import { type FailedItem, refuseFailed, workOnEach } from '../in-halves.ts'
import { moveUnlessOvertaken } from '../invites/candidate.ts'
import { UPLOAD_GRACE_SECONDS } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { handIn } from './finish.ts'

/** Submissions looked up by one statement. */
const FOUND_AT_ONCE = 200

type Due = { submissionId: string; inviteId: string; deadlineAt: Date } & Context['organization']

/**
 * Hands in the submissions of all organizations whose time is over, and that of uploading what was recorded in it; for the scheduled
 * sweep. It is the clock that completes them, whether or not the candidate came back.
 *
 * @returns how many.
 */
export async function completeDueSubmissions(system: ServiceContext): Promise<number> {
  let completed = 0
  const failed: FailedItem<Due>[] = []
  for (let after: Due | undefined; ; ) {
    const due = await findDue(system, after)
    const failedNow = await workOnEach(due, async ({ submissionId, inviteId, deadlineAt: _, ...organization }) => {
      const ctx: Context = { ...system, organization }
      if (await inTransaction(ctx, (inside) => completeDue(inside, inviteId, submissionId))) completed++
    })
    failed.push(...failedNow)
    if (due.length < FOUND_AT_ONCE) break
    after = due.at(-1)
  }
  refuseFailed(failed)
  return completed
}

function findDue({ db, deps }: ServiceContext, after: Due | undefined): Promise<Due[]> {
  const until = new Date(deps.clock().getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  const { deadlineAt, submissionId } = after ?? { deadlineAt: new Date(0), submissionId: '00000000-0000-0000-0000-000000000000' }
  return db.$queryRaw<Due[]>`
    SELECT s.id AS "submissionId", s.invite_id AS "inviteId", s.deadline_at AS "deadlineAt", o.id, o.name, o.tier
    FROM submissions s
    JOIN invites i ON i.organization_id = s.organization_id AND i.id = s.invite_id AND i.assessment_session = s.id AND i.status = 'started'
    JOIN organizations o ON o.id = s.organization_id
    WHERE s.state = 'in_progress' AND s.deadline_at <= ${until} AND (s.deadline_at, s.id) > (${deadlineAt}, ${submissionId}::uuid)
    ORDER BY s.deadline_at, s.id LIMIT ${FOUND_AT_ONCE}`
}

/** @returns whether this has completed it: one that somebody holds is left to them, or to the next sweep. */
async function completeDue(ctx: Context, inviteId: string, submissionId: string): Promise<boolean> {
  const held = await ctx.db.$queryRaw<object[]>`
    SELECT id FROM invites
    WHERE organization_id = ${ctx.organization.id}::uuid AND id = ${inviteId}::uuid AND assessment_session = ${submissionId}::uuid
    FOR NO KEY UPDATE SKIP LOCKED`
  if (held.length === 0 || !(await moveUnlessOvertaken(ctx, 'complete', { inviteId }))) return false
  await handIn(ctx, submissionId)
  return true
}
