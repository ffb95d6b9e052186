import { sql } from '../../../db/builder.ts'
import { type NotNull, sameOrganization, scopeWhere } from '../../../db/queries.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { type FailedItem, processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { moveIfStillAllowed } from '../../invites/candidate-moves.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { submit } from './finish-submission.ts'

/** Submissions looked up by one statement. */
const FOUND_AT_ONCE = 200

type DueSubmission = { submissionId: string; inviteId: string; deadlineAt: Date } & Context['organization']

/**
 * Submits overdue submissions of all organizations after the grace period for uploads, for the scheduled sweep. The actor is the system.
 *
 * @returns the number of submissions.
 */
export async function completeDueSubmissions(system: ServiceContext): Promise<number> {
  let completed = 0
  const failed: FailedItem<DueSubmission>[] = []
  for (let after: DueSubmission | undefined; ; ) {
    const batch = await findDue(system, after)
    const failedNow = await processEach(batch, async ({ submissionId, inviteId, deadlineAt: _, ...organization }) => {
      const ctx = enterOrganization(system, organization)
      if (await inTransaction(ctx, (inside) => completeDue(inside, inviteId, submissionId))) completed++
    })
    failed.push(...failedNow)
    if (batch.length < FOUND_AT_ONCE) break
    after = batch.at(-1)
  }
  throwFirstFailure(failed)
  return completed
}

function findDue({ db, deps }: ServiceContext, after: DueSubmission | undefined): Promise<DueSubmission[]> {
  const until = dueUntil(deps.clock())
  const { deadlineAt, submissionId } = after ?? { deadlineAt: new Date(0), submissionId: '00000000-0000-0000-0000-000000000000' }
  const dueSubmissions = unscoped(db)
    .selectFrom('submissions')
    .innerJoin('invites', (join) =>
      join
        .on(sameOrganization('invites', 'submissions'))
        .onRef('invites.id', '=', 'submissions.inviteId')
        .onRef('invites.assessmentSession', '=', 'submissions.id')
        .on('invites.status', '=', 'started'),
    )
    .innerJoin('organizations', 'organizations.id', 'submissions.organizationId')
    .where('submissions.state', '=', sql.lit('in_progress'))
    .where('submissions.deadlineAt', '<=', until)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('submissions.deadlineAt', 'submissions.id'), '>', tuple(deadlineAt, submissionId)),
    )
    .select(['submissions.id as submissionId', 'submissions.inviteId', 'submissions.deadlineAt'])
    .select(['organizations.id', 'organizations.name', 'organizations.tier'])
    .orderBy('submissions.deadlineAt')
    .orderBy('submissions.id')
    .limit(FOUND_AT_ONCE)
  return dueSubmissions.$narrowType<{ deadlineAt: NotNull }>().execute()
}

/** Submissions due before this time are final: the grace period for uploads is over. */
const dueUntil = (now: Date): Date => new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)

async function isDue(ctx: Context, id: string): Promise<boolean> {
  const where = { ...scopeWhere(ctx), id, deadlineAt: { lte: dueUntil(ctx.deps.clock()) } }
  return (await ctx.db.submission.findFirst({ where, select: { id: true } })) !== null
}

/** @returns true if this call completed it. A locked one is skipped until the next sweep. */
async function completeDue(ctx: Context, inviteId: string, submissionId: string): Promise<boolean> {
  const started = ctx.db.selectFrom('invites').where('id', '=', inviteId).where('assessmentSession', '=', submissionId)
  const lockedSubmission = await started.select('id').forNoKeyUpdate().skipLocked().executeTakeFirst()
  // Extra time may have been granted since it was found.
  if (!lockedSubmission || !(await isDue(ctx, submissionId)) || !(await moveIfStillAllowed(ctx, 'complete', { inviteId })))
    return false
  await submit(ctx, submissionId)
  return true
}
