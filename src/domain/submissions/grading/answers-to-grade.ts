import { sql } from '../../../db/builder.ts'
import type { Condition, Expressions, Rows, SqlBool } from '../../../db/queries.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import { isUnanswered, isUnscored } from '../scores.ts'
import { assignmentsTo, hasAssignment, isRoundHeld } from './assignments.ts'
import { isGradedTwice, throwSubmissionNotFound } from './graded-submission.ts'
import { requireGraderId } from './save-grade.ts'
import { isSlotFree } from './waiting-submissions.ts'

// The answers to one question that a member may grade: as in the queue and in graded-submission.ts.

/**
 * A question as candidates got it.
 *
 * @property wording digest of its text, definition, points, and rubric, which papers keep from their start.
 */
export type AskedQuestion = { assessmentId: string; questionId: string; wording: string }

export const wordingOf = ({ ref }: Expressions<'submissionQuestions'>) =>
  sql<string>`left(md5(concat_ws(chr(10), ${ref('submissionQuestions.script')}, ${ref('submissionQuestions.versionId')}, ${ref('submissionQuestions.points')}, ${ref('submissionQuestions.rubric')}::text)), 12)`

/** Submissions that wait for grading, and have answers that the actor may grade. */
export function gradableSubmissions(ctx: Context, assessmentId: string): Rows<'submissions'> {
  const waiting = ctx.db
    .selectFrom('submissions')
    .where('submissions.state', '=', sql.lit('submitted'))
    .where('submissions.needsGrading', 'is not', false)
    .where('submissions.assessmentId', '=', assessmentId)
  const me = requireGraderId(ctx)
  return waiting.where((eb) =>
    eb.or([...isForAdmins(ctx, eb), holdsWhole(ctx, eb, me), hasAssignment(ctx.db, eb, me), isSlotFree(ctx, eb, 'graderId')]),
  )
}

/** Admins grade every answer, unless two graders do. */
const isForAdmins = (ctx: Context, eb: Expressions<'submissions'>): Condition[] =>
  may(ctx, 'read') ? [eb.not(isGradedTwice(eb, ctx.db)) as Condition] : []

const holdsWhole = ({ db }: Context, eb: Expressions<'submissions'>, me: string): Condition =>
  eb.or([eb('submissions.graderId', '=', me), eb.and([eb('submissions.secondGraderId', '=', me), isGradedTwice(eb, db)])])

/** Answers of a submission that people grade, and the actor may: without those that are assigned to others one by one. */
export function answersToGrade(ctx: Context, submission: Expressions<'submissions'>) {
  const { db } = ctx
  const me = requireGraderId(ctx)
  const assigned = submission.or([
    hasNumber(assignmentsTo(db, submission, 1, me)),
    submission.and([isGradedTwice(submission, db), hasNumber(assignmentsTo(db, submission, 2, me))]),
  ])
  const isFree = submission.and([
    isSlotFree(ctx, submission, 'graderId'),
    submission.not(hasAssignment(db, submission, me)),
    submission.or([isRoundHeld(db, submission, 1), submission.not(hasNumber(assignedToOthers(ctx, submission, me)))]),
  ])
  return db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submission.ref('submissions.id'))
    .where('submissionQuestions.points', '>', 0)
    .where((eb) => isUnscored(eb, db))
    .where((eb) => sql<SqlBool>`not ${isUnanswered(eb, db)}`)
    .where(submission.or([...isForAdmins(ctx, submission), holdsWhole(ctx, submission, me), assigned, isFree]))
}

const hasNumber = (numbers: { as?: unknown }): Condition =>
  sql<SqlBool>`${sql.ref('submissionQuestions.number')} in (${numbers as never})`

const assignedToOthers = ({ db }: Context, submission: Expressions<'submissions'>, me: string) =>
  db
    .selectFrom('gradingAssignments')
    .where('gradingAssignments.submissionId', '=', submission.ref('submissions.id'))
    .where('gradingAssignments.round', '=', sql.lit(1))
    .where('gradingAssignments.graderId', 'is not', null)
    .where('gradingAssignments.graderId', '<>', me)
    .select('gradingAssignments.questionNumber')

/** @param isGraded true or false: only those that the actor has graded, or has not; undefined: all. */
export const answersTo = (
  ctx: Context,
  submission: Expressions<'submissions'>,
  { questionId, wording }: AskedQuestion,
  isGraded?: boolean,
) =>
  answersToGrade(ctx, submission)
    .where('submissionQuestions.questionId', '=', questionId)
    .where((eb) => eb(wordingOf(eb), '=', wording))
    .$if(isGraded !== undefined, (query) =>
      query.where((eb) => sql<SqlBool>`${isGradedByActor(ctx, eb)} = ${sql.lit(isGraded!)}`),
    )

/** SQL condition: the newest grade of the actor has points. */
export const isGradedByActor = (ctx: Context, eb: Expressions<'submissionQuestions'>) =>
  sql<boolean>`coalesce((${ctx.db
    .selectFrom('grades')
    .where('grades.submissionId', '=', eb.ref('submissionQuestions.submissionId'))
    .where('grades.questionNumber', '=', eb.ref('submissionQuestions.number'))
    .where('grades.graderId', '=', requireGraderId(ctx))
    .orderBy('grades.updatedAt', 'desc')
    .orderBy('grades.id', 'desc')
    .limit(sql.lit(1))
    .select((gradeEb) => gradeEb('grades.points', 'is not', null).as('is'))}), false)`

/** @throws DomainError not_permitted; assessment_not_found. */
export async function findAssessment(ctx: Context, id: string): Promise<{ id: string; name: string }> {
  authorize(ctx, 'grade')
  const where = { organizationId: ctx.organization.id, id }
  const found = isUuid(id) ? await ctx.db.assessment.findFirst({ where, select: { id: true, name: true } }) : null
  if (!found) throw new DomainError('assessment_not_found')
  return found
}

/** Number of the question in the paper of a submission. @throws DomainError submission_not_found if the actor may not grade it. */
export async function findNumber(ctx: Context, question: AskedQuestion, submissionId: string): Promise<number> {
  authorize(ctx, 'grade')
  const found =
    isUuid(submissionId) && isUuid(question.questionId) && isUuid(question.assessmentId)
      ? await gradableSubmissions(ctx, question.assessmentId)
          .where('submissions.id', '=', submissionId)
          .select((eb) =>
            answersTo(ctx, eb, question).select('submissionQuestions.number').limit(sql.lit(1)).$asScalar().as('number'),
          )
          .executeTakeFirst()
      : undefined
  return found?.number ?? throwSubmissionNotFound()
}
