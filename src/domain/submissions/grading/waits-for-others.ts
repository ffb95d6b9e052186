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
      .where((factEb) => {
        const isReleasable = factEb.and([
          factEb.ref('facts.isFirstGraded'),
          factEb.ref('facts.isSecondGraded'),
          factEb.not(isUndecided(db, eb)),
        ])
        const hasGradedFirst = factEb.or([
          factEb.and([eb('submissions.graderId', '=', me), factEb.ref('facts.isFirstGraded')]),
          factEb.ref('facts.hasGradedAssigned'),
        ])
        const hasGradedSecond = factEb.or([
          factEb.and([eb('submissions.secondGraderId', '=', me), factEb.ref('facts.isSecondGraded')]),
          factEb.ref('facts.hasGradedAssignedSecond'),
        ])
        const ofOne = factEb.and([
          factEb.not('facts.isTwice'),
          factEb.ref('facts.hasGradedAssigned'),
          factEb.not('facts.isFirstGraded'),
        ])
        const ofTwo = factEb.and([
          factEb.ref('facts.isTwice'),
          factEb.or([factEb.and([hasGradedFirst, factEb.not(isReleasable)]), hasGradedSecond]),
        ])
        return factEb.or([ofOne, ofTwo])
      }),
  )
}

/** SQL condition: answers are assigned to the member, and all of these have points. */
function hasGradedAssigned(db: TenantDb, eb: Expressions<'submissions'>, round: AssignedRound, me: string): Condition {
  const assigned = assignmentsTo(db, eb, round, me)
  const ungraded = questionsOf(db, eb)
    .where('submissionQuestions.number', 'in', assigned)
    .where((questionEb) => sql<boolean>`${lastPoints(db, questionEb, round)} is null`)
  return eb.and([eb.exists(assigned), eb.not(eb.exists(ungraded))])
}

/** SQL condition: every question that people have to grade has points in the round. */
const isGraded = (db: TenantDb, eb: Expressions<'submissions'>, round: GradingRound): Condition =>
  eb.not(
    eb.exists(
      questionsOf(db, eb)
        .where(
          (questionEb) =>
            sql<boolean>`${scoredPoints(questionEb, db)} is null and ${isDropped(questionEb, db)} is not true and not ${isUnanswered(questionEb, db)}`,
        )
        .where((questionEb) => sql<boolean>`${lastPoints(db, questionEb, round)} is null`),
    ),
  )

/** SQL condition: the two graders' points are too far apart, and nobody has decided. */
export const isUndecided = (db: TenantDb, eb: Expressions<'submissions'>): Condition =>
  eb.exists(
    questionsOf(db, eb)
      .where(
        (questionEb) =>
          sql<boolean>`abs(${lastPoints(db, questionEb, 1)} - ${lastPoints(db, questionEb, 2)}) * ${AGREEMENT} > ${questionEb.ref('submissionQuestions.points')}`,
      )
      .where((questionEb) => sql<boolean>`${lastPoints(db, questionEb, 3)} is null`),
  )

const questionsOf = (db: TenantDb, eb: Expressions<'submissions'>) =>
  db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', eb.ref('submissions.id'))
    .where('submissionQuestions.points', '>', 0)
    .select('submissionQuestions.number')

/** SQL: the last points of a round, without grades that their graders changed since; null without points. */
const lastPoints = (db: TenantDb, eb: Expressions<'submissionQuestions'>, round: GradingRound) =>
  db
    .selectFrom('grades')
    .where('grades.submissionId', '=', eb.ref('submissionQuestions.submissionId'))
    .where('grades.questionNumber', '=', eb.ref('submissionQuestions.number'))
    .where('grades.round', '=', sql.lit(round))
    .where('grades.points', 'is not', null)
    .where((gradeEb) =>
      gradeEb.not(
        gradeEb.exists(
          db
            .selectFrom('grades as later')
            .where('later.submissionId', '=', gradeEb.ref('grades.submissionId'))
            .where('later.questionNumber', '=', gradeEb.ref('grades.questionNumber'))
            .where('later.round', '=', gradeEb.ref('grades.round'))
            .where('later.graderId', '=', gradeEb.ref('grades.graderId'))
            .where(sql<boolean>`(later.updated_at, later.id) > (grades.updated_at, grades.id)`)
            .select('later.id'),
        ),
      ),
    )
    .orderBy('grades.updatedAt', 'desc')
    .orderBy('grades.id', 'desc')
    .limit(1)
    .select('grades.points')
