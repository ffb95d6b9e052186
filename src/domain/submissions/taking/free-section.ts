import { sql } from '../../../db/builder.ts'
import { isOpenAt, type SubmissionSection } from './paper.ts'
import type { PreparedSession } from './session.ts'

// Going back and forth in a section with free navigation. All its questions stay open until the candidate finishes it, or its time ends.

/** Ways to leave or change a question of a section with free navigation. */
export const DIRECTIONS = ['next', 'previous', 'overview', 'mark', 'unmark'] as const
export type Direction = (typeof DIRECTIONS)[number]

/** The section of an open question, if candidates go back and forth in it. */
export async function findFreeSection({ ctx, submission }: PreparedSession, number: number): Promise<SubmissionSection | null> {
  const key = { organizationId: ctx.organization.id, submissionId: submission.id }
  const question = await ctx.db.submissionQuestion.findFirst({ where: { ...key, number }, select: { sectionNumber: true } })
  if (question?.sectionNumber == null) return null
  return ctx.db.submissionSection.findFirst({ where: { ...key, number: question.sectionNumber, navigation: 'free' } })
}

/** Goes on from a question of a section with free navigation. Beyond its first and last question is the overview. */
export async function leaveFreeQuestion(
  session: PreparedSession,
  section: SubmissionSection,
  number: number,
  direction: Direction,
): Promise<void> {
  const { ctx, submission } = session
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, number, closedAt: null }
  if (direction === 'mark' || direction === 'unmark')
    await ctx.db.submissionQuestion.updateMany({ where, data: { isMarked: direction === 'mark' } })
  else if (direction === 'overview') await setCurrent(session, section.number, null)
  else {
    const neighborNumber = number + (direction === 'next' ? 1 : -1)
    const isInSection = (await findFreeSection(session, neighborNumber))?.number === section.number
    await setCurrent(session, section.number, isInSection ? neighborNumber : null)
  }
}

/** Goes to a question of a section with free navigation. */
export async function goToQuestion(session: PreparedSession, number: number): Promise<void> {
  const section = await findFreeSection(session, number)
  if (section) await setCurrent(session, section.number, number)
}

async function setCurrent({ ctx, submission }: PreparedSession, number: number, currentNumber: number | null): Promise<void> {
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, number, navigation: 'free' }
  await ctx.db.submissionSection.updateMany({ where, data: { currentNumber } })
}

/** Finishes an open section for good: its questions close. */
export async function finishSection({ ctx, submission }: PreparedSession, number: number): Promise<void> {
  const now = ctx.deps.clock()
  const close = ctx.db
    .updateTable('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submission.id)
    .where('submissionQuestions.sectionNumber', '=', number)
    .where((eb) => isOpenAt(eb, now))
    .set({ closedAt: sql<Date>`${now}::timestamptz` })
  await close.execute()
}
