import { findOpenQuestion, openAt } from './paper.ts'
import { refuseSession } from './refusals.ts'
import { type PreparedSession, refuseUnlessWritable, writableBy } from './session.ts'

/**
 * Grants one playing of a question's prompt.
 *
 * @returns how many are left.
 * @throws DomainError session_refused: no_plays_left, closed, submitted, taken_over.
 */
export async function grantPlay(session: PreparedSession, number: number): Promise<number> {
  const { ctx, submission } = session
  const { db, deps, organization } = ctx
  const [granted] = await db.$queryRaw<{ playsLeft: number }[]>`
    WITH held AS MATERIALIZED (
      SELECT s.question_replay_limit FROM submissions s
      WHERE s.organization_id = ${organization.id}::uuid AND s.id = ${submission.id}::uuid AND ${writableBy(session)}
      FOR SHARE
    )
    UPDATE paper_questions p SET plays = p.plays + 1 FROM held
    WHERE p.organization_id = ${organization.id}::uuid AND p.submission_id = ${submission.id}::uuid AND p.number = ${number}
      AND ${openAt(deps.clock())} AND p.plays < held.question_replay_limit
    RETURNING held.question_replay_limit - p.plays AS "playsLeft"`
  if (granted) return granted.playsLeft
  await refuseUnlessWritable(session)
  return refuseSession((await findOpenQuestion(session, number)) ? 'no_plays_left' : 'closed')
}
