import { sql } from '../../../db/builder.ts'
import { type Condition, type Expressions, own, type Sight, sameOwner } from '../../../db/own.ts'
import { isDropped, scoredPoints } from '../scores.ts'
import type { Round } from './rounds.ts'

/** Two graders' points agree up to one part of so many of the question's, see totals.ts. */
const AGREEMENT = sql.lit(5)

/**
 * Of a submission that the member grades: whether there is nothing in it for them to do. It is graded twice, they have given their points,
 * and the other has not, or an admin has to decide, or it is the first grader who releases. For lists and counts; one submission's
 * {@link progressOf} says more.
 */
export function waitsForOthers(ctx: Sight, eb: Expressions<'submissions'>, me: string): Condition {
  const isFirst = eb('submissions.graderId', '=', me)
  const isReady = eb.and([isGraded(ctx, eb, 2), eb.not(isUndecided(ctx, eb))])
  const ofFirst = eb.and([isFirst, isGraded(ctx, eb, 1), eb.not(isReady)])
  const ofSecond = eb.and([eb('submissions.secondGraderId', '=', me), isGraded(ctx, eb, 2)])
  return eb.and([isGradedTwice(eb), eb.or([ofFirst, ofSecond])])
}

export const isGradedTwice = (eb: Expressions<'submissions'>): Condition =>
  eb.exists(
    eb
      .selectFrom('assessments')
      .where(sameOwner('assessments', 'submissions'))
      .whereRef('assessments.id', '=', 'submissions.assessmentId')
      .where('assessments.secondGrader', '=', true),
  )

/** Whether each question that people have to grade was given points in that round. */
const isGraded = (ctx: Sight, eb: Expressions<'submissions'>, round: Round): Condition =>
  eb.not(
    eb.exists(
      questionsOf(ctx, eb)
        .where((of) => sql<boolean>`${scoredPoints(of)} is null and ${isDropped(of)} is not true`)
        .where((of) => sql<boolean>`${lastPoints(ctx, of, round)} is null`),
    ),
  )

/** Whether the two graders' points of a question are too far apart, and no admin has decided. */
const isUndecided = (ctx: Sight, eb: Expressions<'submissions'>): Condition =>
  eb.exists(
    questionsOf(ctx, eb)
      .where(
        (of) =>
          sql<boolean>`abs(${lastPoints(ctx, of, 1)} - ${lastPoints(ctx, of, 2)}) * ${AGREEMENT} > ${of.ref('submissionQuestions.points')}`,
      )
      .where((of) => sql<boolean>`${lastPoints(ctx, of, 3)} is null`),
  )

const questionsOf = (ctx: Sight, eb: Expressions<'submissions'>) =>
  own(ctx, 'submissionQuestions')
    .where('submissionQuestions.submissionId', '=', eb.ref('submissions.id'))
    .where('submissionQuestions.points', '>', 0)
    .select('submissionQuestions.number')

/** The points given last in a round; a grade that its grader has changed since counts no more. Null: none. */
const lastPoints = (ctx: Sight, eb: Expressions<'submissionQuestions'>, round: Round) =>
  own(ctx, 'grades')
    .where('grades.submissionId', '=', eb.ref('submissionQuestions.submissionId'))
    .where('grades.questionNumber', '=', eb.ref('submissionQuestions.number'))
    .where('grades.round', '=', sql.lit(round))
    .where('grades.points', 'is not', null)
    .where((of) =>
      of.not(
        of.exists(
          own(ctx, 'grades', 'later')
            .where('later.submissionId', '=', of.ref('grades.submissionId'))
            .where('later.questionNumber', '=', of.ref('grades.questionNumber'))
            .where('later.round', '=', of.ref('grades.round'))
            .where('later.graderId', '=', of.ref('grades.graderId'))
            .where(sql<boolean>`(later.updated_at, later.id) > (grades.updated_at, grades.id)`)
            .select('later.id'),
        ),
      ),
    )
    .orderBy('grades.updatedAt', 'desc')
    .orderBy('grades.id', 'desc')
    .limit(1)
    .select('grades.points')
