import { sql } from '../../../db/builder.ts'
import { sameOrganization } from '../../../db/queries.ts'
import { affectedRows } from '../../../db/statements.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { type FailedItem, processEach, repeatBatch, throwFirstFailure } from '../../concurrency/bisect.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import { submit } from './finish-submission.ts'

// Submissions in progress whose invites have ended. Revoking or declining an invite does not touch submissions, nor does a player (PLAYER_URL)
// that completes one.

/** Submissions looked up by one statement. */
const FOUND_AT_ONCE = 200
/** Submissions changed by one statement. */
const WITHDRAWN_AT_ONCE = 2_000

type CompletedSubmission = { submissionId: string } & Context['organization']

/**
 * Closes submissions of closed invites in all organizations, for the scheduled sweep: submits them if the invite was completed, withdraws
 * them if it was revoked, declined, or reactivated.
 *
 * @returns the number of submissions.
 */
export async function endSubmissionsOfClosedInvites(system: ServiceContext): Promise<number> {
  let ended = await withdraw(system)
  const failed: FailedItem<CompletedSubmission>[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const completed = await findCompleted(system, after)
    const failedNow = await processEach(completed, async ({ submissionId, ...organization }) => {
      const ctx = enterOrganization(system, organization)
      if (await inTransaction(ctx, (inside) => submitCompleted(inside, submissionId))) ended++
    })
    failed.push(...failedNow)
    if (completed.length < FOUND_AT_ONCE) break
    after = completed.at(-1)!.submissionId
  }
  throwFirstFailure(failed)
  return ended
}

/** @returns true if this call submitted it. One with a locked invite is skipped until the next sweep. */
async function submitCompleted(ctx: Context, submissionId: string): Promise<boolean> {
  const isHeld = await lockInvite(ctx, submissionId)
  if (isHeld) await submit(ctx, submissionId)
  return isHeld
}

async function withdraw({ db, deps }: ServiceContext): Promise<number> {
  let withdrawn = 0
  await repeatBatch(WITHDRAWN_AT_ONCE, async (atMost) => {
    const openSubmissions = unscoped(db)
      .selectFrom('submissions')
      .innerJoin('invites', (join) =>
        join.on(sameOrganization('invites', 'submissions')).onRef('invites.id', '=', 'submissions.inviteId'),
      )
      .select('submissions.id')
      .where('submissions.state', '=', sql.lit('in_progress'))
      .where(({ eb, or, ref }) =>
        or([
          eb('invites.status', 'not in', ['started', 'completed']),
          eb('invites.assessmentSession', 'is distinct from', ref('submissions.id')),
        ]),
      )
      .limit(atMost)
      .forNoKeyUpdate('submissions')
      .skipLocked()
    const change = unscoped(db)
      .updateTable('submissions')
      .set({ state: 'withdrawn', updatedAt: deps.clock() })
      .where('submissions.id', 'in', openSubmissions)
    const count = await affectedRows(change)
    withdrawn += count
    return count
  })
  return withdrawn
}

const findCompleted = ({ db }: ServiceContext, after: string): Promise<CompletedSubmission[]> =>
  unscoped(db)
    .selectFrom('submissions')
    .innerJoin('invites', (join) =>
      join
        .on(sameOrganization('invites', 'submissions'))
        .onRef('invites.id', '=', 'submissions.inviteId')
        .onRef('invites.assessmentSession', '=', 'submissions.id')
        .on('invites.status', '=', 'completed'),
    )
    .innerJoin('organizations', 'organizations.id', 'submissions.organizationId')
    .where('submissions.state', '=', sql.lit('in_progress'))
    .where('submissions.id', '>', after)
    .select(['submissions.id as submissionId', 'organizations.id', 'organizations.name', 'organizations.tier'])
    .orderBy('submissions.id')
    .limit(FOUND_AT_ONCE)
    .execute()

/**
 * Locks the invite of a submission, for a sweep that locks the submission next: the invite comes first everywhere, so that no two wait for each
 * other.
 *
 * @returns false if another transaction has locked it: the next sweep tries again.
 */
async function lockInvite(ctx: Context, submissionId: string): Promise<boolean> {
  const inviteId = ctx.db.selectFrom('submissions').where('submissions.id', '=', submissionId).select('submissions.inviteId')
  const lockedInvite = await ctx.db
    .selectFrom('invites')
    .select('id')
    .where('id', 'in', inviteId)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst()
  return lockedInvite !== undefined
}
