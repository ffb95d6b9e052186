import { attemptOnce } from './attempts.ts'
import { findOpenQuestion, openAt } from './paper.ts'
import { refuseSession } from './refusals.ts'
import { holdSubmission, type PreparedSession } from './session.ts'

/**
 * Grants one playing of a question's prompt, once for an attempt. The browser asks when it has the medium and could play it, so that one
 * that can't be loaded costs none.
 *
 * @returns how many are left.
 * @throws DomainError session_refused: no_plays_left, closed, submitted, taken_over; as {@link attemptOnce}.
 */
export async function grantPlay(session: PreparedSession, number: number): Promise<number> {
  const { submission } = session
  const { playsLeft } = await attemptOnce(session, `play ${number}`, async (inside) => {
    const { db, deps, organization } = inside
    const held = { ...session, ctx: inside }
    await holdSubmission(held)
    const limit = submission.questionReplayLimit
    const [granted] = await db.$queryRaw<{ playsLeft: number }[]>`
      UPDATE paper_questions p SET plays = p.plays + 1
      WHERE p.organization_id = ${organization.id}::uuid AND p.submission_id = ${submission.id}::uuid AND p.number = ${number}
        AND ${openAt(deps.clock())} AND p.plays < ${limit}
      RETURNING ${limit}::integer - p.plays AS "playsLeft"`
    if (granted) return granted
    return refuseSession((await findOpenQuestion(held, number)) ? 'no_plays_left' : 'closed')
  })
  return playsLeft
}
