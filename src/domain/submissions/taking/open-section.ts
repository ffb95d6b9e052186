import { scopeWhere } from '../../../db/queries.ts'
import { daysAfter } from '../../time/days.ts'
import { withExtraTime } from '../../time/extra-time.ts'
import { inTransaction } from '../../transaction.ts'
import { lockRunning, requireSharedScreen } from './open-question.ts'
import { readPosition } from './position.ts'
import type { PreparedSession } from './session.ts'

/** Days that candidates may pause after the end of a section, if the test has no overall limit. Then their answers are submitted. */
export const PAUSE_DAYS = 7

/**
 * Opens a section: its time limit starts, within the end of the whole. With free navigation all its questions open with it. Does nothing
 * unless it is the next section.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function openSection(session: PreparedSession, number: number): Promise<void> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  await inTransaction(ctx, async (inside) => {
    const lockedSubmission = await lockRunning(inside, session, now)
    if (!lockedSubmission) return
    const { paper, next, section } = await readPosition(inside, submission.id)
    if (!next || section?.number !== number || section.openedAt !== null) return
    const key = { organizationId: inside.organization.id, submissionId: submission.id }
    const endOfWhole = lockedSubmission.isDeadlineOfQuestion ? null : lockedSubmission.deadlineAt
    const closesAt = endOfSection(section, { openedAt: now, endOfWhole, extraTimePercent: lockedSubmission.extraTimePercent })
    const isFree = section.navigation === 'free'
    const opened = { openedAt: now, closesAt, currentNumber: isFree ? next.number : null }
    await inside.db.submissionSection.updateMany({ where: { ...key, number }, data: opened })
    if (isFree) {
      await requireSharedScreen(inside, session)
      const times = { openedAt: now, closesAt: closesAt ?? endOfWhole }
      await inside.db.submissionQuestion.updateMany({ where: { ...key, sectionNumber: number }, data: times })
    }
    if (endOfWhole) return
    const deadlineAt = closesAt && dueAfter(closesAt, paper.at(-1)?.sectionNumber === number)
    const where = { ...scopeWhere(inside), id: submission.id }
    await inside.db.submission.updateMany({ where, data: { deadlineAt, isDeadlineOfQuestion: deadlineAt !== null } })
  })
}

/** When a submission without a limit for the whole is due, by the end of its open section. */
const dueAfter = (closesAt: Date, isLast: boolean): Date => (isLast ? closesAt : daysAfter(closesAt, PAUSE_DAYS))

type Opened = { openedAt: Date; endOfWhole: Date | null; extraTimePercent: number }

/** End of a section by its own limit, at most the end of the test; null: the section has no limit. */
function endOfSection({ timeLimit }: { timeLimit: number }, { openedAt, endOfWhole, extraTimePercent }: Opened): Date | null {
  if (timeLimit === 0) return null
  const end = new Date(openedAt.getTime() + withExtraTime(timeLimit, extraTimePercent) * 1_000)
  return endOfWhole && endOfWhole < end ? endOfWhole : end
}

/** Opens the section of a question, if it is the next. */
export async function openSectionOf(session: PreparedSession, questionNumber: number): Promise<void> {
  const { ctx, submission } = session
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, number: questionNumber }
  const question = await ctx.db.submissionQuestion.findFirst({ where, select: { sectionNumber: true } })
  if (question?.sectionNumber != null) await openSection(session, question.sectionNumber)
}
