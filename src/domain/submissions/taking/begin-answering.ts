import { sql } from '../../../db/builder.ts'
import { inTransaction } from '../../transaction.ts'
import { isOpenAt, limitWithExtra } from './paper.ts'
import { lockSubmission, type PreparedSession } from './session.ts'

/**
 * Ends the preparation time of an open question: its time limit begins now. Once more changes nothing, nor after the preparation time.
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
        const over = sql`${now}::timestamptz + ${limitWithExtra(ref('submissionQuestions.timeLimit'), percent)}`
        return { answersAt: now, closesAt: sql<Date | null>`least(${over}, ${ref('submissionQuestions.closesAt')})` }
      })
    const begun = await begin.returning('submissionQuestions.closesAt').executeTakeFirst()
    if (!begun?.closesAt) return
    // Without a limit for the whole, its deadline is the end of the last question, see openQuestion.
    const end = inside.db
      .updateTable('submissions')
      .where('submissions.id', '=', submissionId)
      .where('submissions.isDeadlineOfQuestion', '=', true)
      .set({ deadlineAt: begun.closesAt })
    await end.execute()
  })
}
