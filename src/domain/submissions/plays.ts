import { findOpenQuestion, openAt } from './paper.ts'
import { refuseSession } from './refusals.ts'
import type { PreparedSession } from './session.ts'

/**
 * Grants one playing of a question's prompt.
 *
 * @returns how many are left.
 * @throws DomainError session_refused: no_plays_left, closed.
 */
export async function grantPlay(session: PreparedSession, number: number): Promise<number> {
  const { ctx, submission } = session
  const { db, deps, organization } = ctx
  const [granted] = await db.$queryRaw<{ playsLeft: number }[]>`
    UPDATE paper_questions p SET plays = p.plays + 1 FROM submissions s
    WHERE p.organization_id = ${organization.id}::uuid AND p.submission_id = ${submission.id}::uuid AND p.number = ${number}
      AND ${openAt(deps.clock())} AND s.organization_id = p.organization_id AND s.id = p.submission_id AND s.state = 'in_progress'
      AND p.plays < s.question_replay_limit
    RETURNING s.question_replay_limit - p.plays AS "playsLeft"`
  if (granted) return granted.playsLeft
  return refuseSession((await findOpenQuestion(session, number)) ? 'no_plays_left' : 'closed')
}
