import { sql } from '../../../db/builder.ts'
import type { Condition, Expressions } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { isDropped, isUnanswered, scoredPoints } from '../scores.ts'
import type { GradingRound } from './graded-submission.ts'

/** Two graders' points agree up to one part of so many of the question's, see totals.ts. */
const AGREEMENT = sql.lit(5)

/**
 * SQL condition: the member grades the submission and has nothing to do. They have graded and the other grader has not, an admin
 * has to decide, or the first grader releases. For lists and counts; {@link gradingProgressOf} knows more about one submission.
 */
export function waitsForOthers(db: TenantDb, eb: Expressions<'submissions'>, me: string): Condition {
  const isFirst = eb('submissions.graderId', '=', me)
  const isReady = eb.and([isGraded(db, eb, 2), eb.not(isUndecided(db, eb))])
  const ofFirst = eb.and([isFirst, isGraded(db, eb, 1), eb.not(isReady)])
  const ofSecond = eb.and([eb('submissions.secondGraderId', '=', me), isGraded(db, eb, 2)])
  return eb.and([isGradedTwice(eb, db), eb.or([ofFirst, ofSecond])])
}

/** As withEffectiveGraders has it. */
export const isGradedTwice = (eb: Expressions<'submissions'>, db: TenantDb): Condition =>
  eb.and([
    eb('submissions.keepsOneGrader', '=', false),
    eb.exists(
      eb
        .selectFrom(db.table('assessments'))
        .whereRef('assessments.id', '=', 'submissions.assessmentId')
        .where('assessments.secondGrader', '=', true),
    ),
  ])

/** SQL condition: every question that people have to grade has points in the round. */
const isGraded = (db: TenantDb, eb: Expressions<'submissions'>, round: GradingRound): Condition =>
  eb.not(
    eb.exists(
      questionsOf(db, eb)
        .where(
          (of) =>
            sql<boolean>`${scoredPoints(of, db)} is null and ${isDropped(of, db)} is not true and not ${isUnanswered(of, db)}`,
        )
        .where((of) => sql<boolean>`${lastPoints(db, of, round)} is null`),
    ),
  )

/** SQL condition: the two graders' points are too far apart, and no admin has decided. */
const isUndecided = (db: TenantDb, eb: Expressions<'submissions'>): Condition =>
  eb.exists(
    questionsOf(db, eb)
      .where(
        (of) =>
          sql<boolean>`abs(${lastPoints(db, of, 1)} - ${lastPoints(db, of, 2)}) * ${AGREEMENT} > ${of.ref('submissionQuestions.points')}`,
      )
      .where((of) => sql<boolean>`${lastPoints(db, of, 3)} is null`),
  )

const questionsOf = (db: TenantDb, eb: Expressions<'submissions'>) =>
  db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', eb.ref('submissions.id'))
    .where('submissionQuestions.points', '>', 0)
    .select('submissionQuestions.number')

/** The points given last in a round; a grade that its grader has changed since counts no more. Null: none. */
const lastPoints = (db: TenantDb, eb: Expressions<'submissionQuestions'>, round: GradingRound) =>
  db
    .selectFrom('grades')
    .where('grades.submissionId', '=', eb.ref('submissionQuestions.submissionId'))
    .where('grades.questionNumber', '=', eb.ref('submissionQuestions.number'))
    .where('grades.round', '=', sql.lit(round))
    .where('grades.points', 'is not', null)
    .where((of) =>
      of.not(
        of.exists(
          db
            .selectFrom('grades as later')
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
