import { sql } from '../../../db/builder.ts'
import { inTransaction } from '../../transaction.ts'
import { isOpenAt, limitWithExtra } from './paper.ts'
import { lockSubmission, type PreparedSession } from './session.ts'

/**
 * Ends the preparation time of an open question: its time limit starts now. Repeatable; after the preparation time it does nothing.
 *
 * @throws DomainError session_refused: submitted, closed, taken_over.
 */
export async function beginAnswering(session: PreparedSession, number: number): Promise<void> {
  await inTransaction(session.ctx, async (inside) => {
    await lockSubmission({ ...session, ctx: inside })
    const submissionId = session.submission.id
    const now = inside.deps.clock()
    const submission = inside.db.selectFrom('submissions').where('submissions.id', '=', submissionId)
    const percent = sql`(${submission.select('submissions.extraTimePercent')})`
    const begin = inside.db
      .updateTable('submissionQuestions')
      .where('submissionQuestions.submissionId', '=', submissionId)
      .where('submissionQuestions.number', '=', number)
      .where('submissionQuestions.answersAt', '>', now)
      .where((eb) => isOpenAt(eb, now))
      .set(({ ref }) => {
        const questionEnd = sql`${now}::timestamptz + ${limitWithExtra(ref('submissionQuestions.timeLimit'), percent)}`
        return { answersAt: now, closesAt: sql<Date | null>`least(${questionEnd}, ${ref('submissionQuestions.closesAt')})` }
      })
    const updatedQuestion = await begin.returning('submissionQuestions.closesAt').executeTakeFirst()
    if (!updatedQuestion?.closesAt) return
    // Without a limit for the whole, its deadline is the end of the last question, see openQuestion.
    const later = inside.db
      .selectFrom('submissionQuestions')
      .where('submissionQuestions.submissionId', '=', submissionId)
      .where('submissionQuestions.number', '>', number)
      .select('submissionQuestions.number')
    const end = inside.db
      .updateTable('submissions')
      .where('submissions.id', '=', submissionId)
      .where('submissions.isDeadlineOfQuestion', '=', true)
      .where(({ exists, not }) => not(exists(later)))
      .set({ deadlineAt: updatedQuestion.closesAt })
    await end.execute()
  })
}
