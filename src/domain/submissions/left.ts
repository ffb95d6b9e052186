import type { Context, ServiceContext } from '../context.ts'
import { type FailedItem, refuseFailed, repeatInHalves, workOnEach } from '../in-halves.ts'
import { inTransaction } from '../transaction.ts'
import { handIn } from './finish.ts'

// Submissions in progress of invites that have ended without them: what revokes or declines an invite does not look at submissions, nor does
// a process of the release before that completes one, nor a player that has been set up since.

/** Submissions looked up by one statement. */
const FOUND_AT_ONCE = 200
/** Submissions changed by one statement. */
const WITHDRAWN_AT_ONCE = 2_000

type Completed = { submissionId: string } & Context['organization']

/**
 * Ends them, in all organizations, for the scheduled sweep: with their invite completed they are handed in; revoked, declined, or invited
 * anew since, they are withdrawn.
 *
 * @returns how many.
 */
export async function endLeftSubmissions(system: ServiceContext): Promise<number> {
  let ended = await withdraw(system)
  const failed: FailedItem<Completed>[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const completed = await findCompleted(system, after)
    const failedNow = await workOnEach(completed, ({ submissionId, ...organization }) =>
      inTransaction<Context, void>({ ...system, organization }, (inside) => handIn(inside, submissionId)),
    )
    ended += completed.length - failedNow.length
    failed.push(...failedNow)
    if (completed.length < FOUND_AT_ONCE) break
    after = completed.at(-1)!.submissionId
  }
  refuseFailed(failed)
  return ended
}

async function withdraw({ db, deps }: ServiceContext): Promise<number> {
  let withdrawn = 0
  await repeatInHalves(WITHDRAWN_AT_ONCE, async (atMost) => {
    const count = await db.$executeRaw`
      UPDATE submissions SET state = 'withdrawn', updated_at = ${deps.clock()} WHERE id IN (
        SELECT s.id FROM submissions s JOIN invites i ON i.organization_id = s.organization_id AND i.id = s.invite_id
        WHERE s.state = 'in_progress' AND (i.status NOT IN ('started', 'completed') OR i.assessment_session IS DISTINCT FROM s.id)
        LIMIT ${atMost} FOR NO KEY UPDATE OF s SKIP LOCKED)`
    withdrawn += count
    return count
  })
  return withdrawn
}

const findCompleted = ({ db }: ServiceContext, after: string): Promise<Completed[]> =>
  db.$queryRaw<Completed[]>`
    SELECT s.id AS "submissionId", o.id, o.name, o.tier
    FROM submissions s
    JOIN invites i ON i.organization_id = s.organization_id AND i.id = s.invite_id AND i.assessment_session = s.id AND i.status = 'completed'
    JOIN organizations o ON o.id = s.organization_id
    WHERE s.state = 'in_progress' AND s.id > ${after}::uuid ORDER BY s.id LIMIT ${FOUND_AT_ONCE}`
