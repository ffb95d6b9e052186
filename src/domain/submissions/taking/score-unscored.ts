import { sql } from '../../../db/builder.ts'
import { everyones } from '../../../db/everyone.ts'
import { own } from '../../../db/own.ts'
import { all, first } from '../../../db/statements.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import { type FailedItem, refuseFailed, workOnEach } from '../../work/in-halves.ts'
import { releaseByItself } from '../grading/release-result.ts'
import { scoreAnswers } from '../scores.ts'
import { holdInvite } from './hold-invite.ts'

/** Submissions looked up by one statement. */
const FOUND_AT_ONCE = 200

/**
 * Scores what is handed in and was not scored then, in all organizations, for the scheduled sweep: what a process of the release before has
 * handed in, which knows no scores.
 *
 * @returns how many.
 */
export async function scoreUnscored(system: ServiceContext): Promise<number> {
  let scored = 0
  const failed: FailedItem<unknown>[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const unscored = everyones
      .selectFrom('submissions')
      .innerJoin('organizations', 'organizations.id', 'submissions.organizationId')
      .where('submissions.state', '=', sql.lit('submitted'))
      .where('submissions.needsPeople', 'is', null)
      .where('submissions.id', '>', after)
      .select(['submissions.id as submissionId', 'organizations.id', 'organizations.name', 'organizations.tier'])
      .orderBy('submissions.id')
      .limit(FOUND_AT_ONCE)
    const found = await all(system.db, unscored)
    const failedNow = await workOnEach(found, async ({ submissionId, ...organization }) => {
      const ctx = enterOrganization(system, organization)
      if (await inTransaction(ctx, (inside) => scoreOne(inside, submissionId))) scored++
    })
    failed.push(...failedNow)
    if (found.length < FOUND_AT_ONCE) break
    after = found.at(-1)!.submissionId
  }
  refuseFailed(failed)
  return scored
}

/** @returns whether this has scored it: one that somebody holds is left to the next sweep. */
async function scoreOne(ctx: Context, submissionId: string): Promise<boolean> {
  if (!(await holdInvite(ctx, submissionId))) return false
  const unscored = own(ctx, 'submissions').where('id', '=', submissionId).where('needsPeople', 'is', null)
  const held = await first(ctx.db, unscored.select('id').forNoKeyUpdate().skipLocked())
  if (held && (await scoreAnswers(ctx, submissionId))) await releaseByItself(ctx, submissionId)
  return held !== undefined
}
