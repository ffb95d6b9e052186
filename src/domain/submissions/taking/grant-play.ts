import { ownUpdate } from '../../../db/own.ts'
import { first } from '../../../db/statements.ts'
import { attemptOnce } from './attempt-once.ts'
import { findOpenQuestion, openAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
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
    const held = { ...session, ctx: inside }
    await holdSubmission(held)
    const limit = submission.questionReplayLimit
    const played = ownUpdate(inside, 'paperQuestions')
      .where('paperQuestions.submissionId', '=', submission.id)
      .where('paperQuestions.number', '=', number)
      .where((eb) => openAt(eb, inside.deps.clock()))
      .where('paperQuestions.plays', '<', limit)
      .set((eb) => ({ plays: eb('paperQuestions.plays', '+', 1) }))
    const granted = await first(inside.db, played.returning('paperQuestions.plays'))
    if (granted) return { playsLeft: limit - granted.plays }
    return refuseSession((await findOpenQuestion(held, number)) ? 'no_plays_left' : 'closed')
  })
  return playsLeft
}
