import type { Context, ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { handIn } from './finish.ts'

// Submissions in progress of invites that have ended without them: what revokes or declines an invite does not look at submissions, nor does
// a process of the release before that completes one, nor a player that has been set up since.

/** Submissions looked up by one statement. */
const FOUND_AT_ONCE = 200

type Completed = { submissionId: string } & Context['organization']

/**
 * Ends them, in all organizations, for the scheduled sweep: with their invite completed they are handed in; revoked, declined, or invited
 * anew since, they are withdrawn.
 *
 * @returns how many.
 */
export async function endLeftSubmissions(system: ServiceContext): Promise<number> {
  let ended = await withdraw(system)
  for (;;) {
    const completed = await findCompleted(system)
    for (const { submissionId, ...organization } of completed)
      await inTransaction<Context, void>({ ...system, organization }, (inside) => handIn(inside, submissionId))
    ended += completed.length
    if (completed.length < FOUND_AT_ONCE) return ended
  }
}

const withdraw = ({ db, deps }: ServiceContext): Promise<number> =>
  db.$executeRaw`
    UPDATE submissions s SET state = 'withdrawn', updated_at = ${deps.clock()} FROM invites i
    WHERE s.state = 'in_progress' AND i.organization_id = s.organization_id AND i.id = s.invite_id
      AND (i.status NOT IN ('started', 'completed') OR i.assessment_session IS DISTINCT FROM s.id)`

const findCompleted = ({ db }: ServiceContext): Promise<Completed[]> =>
  db.$queryRaw<Completed[]>`
    SELECT s.id AS "submissionId", o.id, o.name, o.tier
    FROM submissions s
    JOIN invites i ON i.organization_id = s.organization_id AND i.id = s.invite_id AND i.assessment_session = s.id AND i.status = 'completed'
    JOIN organizations o ON o.id = s.organization_id
    WHERE s.state = 'in_progress' LIMIT ${FOUND_AT_ONCE}`
