import { sql } from '../../../db/builder.ts'
import type { Condition, Expressions } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { isDropped, isUnanswered, scoredPoints } from '../scores.ts'
import { type AssignedRound, assignmentsTo } from './assignments.ts'
import { type GradingRound, isGradedTwice } from './graded-submission.ts'

/** Two graders' points agree up to one part of so many of the question's, see totals.ts. */
const AGREEMENT = sql.lit(5)

/**
 * SQL condition: the member grades the submission and has nothing to do. They have graded and the other grader has not, an admin
 * has to decide, or the first grader releases; or answers that are assigned to others are not graded. For lists and counts; {@link gradingProgressOf} knows more about one submission.
 */
export function waitsForOthers(db: TenantDb, eb: Expressions<'submissions'>, me: string): Condition {
  // Each fact is a subquery with several of its own: repeated in the condition, they took PostgreSQL longer to plan than to execute.
  const facts = db
    .selectNoFrom([
      sql<boolean>`${isGradedTwice(eb, db)}`.as('isTwice'),
      sql<boolean>`${isGraded(db, eb, 1)}`.as('isFirstGraded'),
      sql<boolean>`${isGraded(db, eb, 2)}`.as('isSecondGraded'),
      sql<boolean>`${hasGradedAssigned(db, eb, 1, me)}`.as('hasGradedAssigned'),
      sql<boolean>`${hasGradedAssigned(db, eb, 2, me)}`.as('hasGradedAssignedSecond'),
    ])
    .offset(sql.lit(0)) // without it PostgreSQL would repeat them
    .as('facts')
  return eb.exists(
    db
      .selectFrom(facts)
      .select(sql.lit(1).as('one'))
      .where((of) => {
        const isReleasable = of.and([of.ref('facts.isFirstGraded'), of.ref('facts.isSecondGraded'), of.not(isUndecided(db, eb))])
        const hasGradedFirst = of.or([
          of.and([eb('submissions.graderId', '=', me), of.ref('facts.isFirstGraded')]),
          of.ref('facts.hasGradedAssigned'),
        ])
        const hasGradedSecond = of.or([
          of.and([eb('submissions.secondGraderId', '=', me), of.ref('facts.isSecondGraded')]),
          of.ref('facts.hasGradedAssignedSecond'),
        ])
        const ofOne = of.and([of.not('facts.isTwice'), of.ref('facts.hasGradedAssigned'), of.not('facts.isFirstGraded')])
        const ofTwo = of.and([of.ref('facts.isTwice'), of.or([of.and([hasGradedFirst, of.not(isReleasable)]), hasGradedSecond])])
        return of.or([ofOne, ofTwo])
      }),
  )
}

/** SQL condition: answers are assigned to the member, and all of these have points. */
function hasGradedAssigned(db: TenantDb, eb: Expressions<'submissions'>, round: AssignedRound, me: string): Condition {
  const assigned = assignmentsTo(db, eb, round, me)
  const ungraded = questionsOf(db, eb)
    .where('submissionQuestions.number', 'in', assigned)
    .where((of) => sql<boolean>`${lastPoints(db, of, round)} is null`)
  return eb.and([eb.exists(assigned), eb.not(eb.exists(ungraded))])
}

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

/** SQL condition: the two graders' points are too far apart, and nobody has decided. */
export const isUndecided = (db: TenantDb, eb: Expressions<'submissions'>): Condition =>
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
