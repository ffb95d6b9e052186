import { sql } from '../../../db/builder.ts'
import type { Condition, Expressions, SqlBool } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { DEFAULT, insertFromSelect, uuid } from '../../../db/writes.ts'
import type { Context } from '../../context.ts'
import { graders } from '../../members/graders.ts'
import { gradedLanguage } from '../graded-languages.ts'
import { isUnanswered, isUnscored } from '../scores.ts'
import { isGradedTwice } from './graded-submission.ts'

// Answers that are assigned to graders one by one. The sweep chooses the graders, see assign-answers.ts.

export const ASSIGNED_ROUNDS = [1, 2] as const
export type AssignedRound = (typeof ASSIGNED_ROUNDS)[number]

/** The codes that cover a language: its own, and for `es-MX` also `es`. */
export const coveringCodes = (language: string): string[] => [...new Set([language, language.split('-', 1)[0]!])]

/** Adds the answers that people have to grade, of submissions that wait and have none in the round yet, without graders. */
export async function addAssignments(ctx: Context): Promise<void> {
  for (const round of ASSIGNED_ROUNDS) {
    const insertion = insertFromSelect(ctx.db, 'gradingAssignments', answersWithoutAssignment(ctx.db, round), (eb) => ({
      organizationId: uuid(ctx.organization.id),
      submissionId: eb.ref('submissionQuestions.submissionId'),
      questionNumber: eb.ref('submissionQuestions.number'),
      round: sql<number>`${sql.lit(round)}::smallint`,
      language: gradedLanguage(eb),
      graderId: DEFAULT,
      isOpen: DEFAULT,
    }))
    await insertion.onConflict((conflict) => conflict.doNothing()).execute()
  }
}

function answersWithoutAssignment(db: TenantDb, round: AssignedRound) {
  const waiting = db
    .selectFrom('submissions')
    .where('submissions.state', '=', sql.lit('submitted'))
    .where('submissions.needsGrading', 'is not', false)
    .where('submissions.assessmentId', 'in', db.selectFrom('assessments').where('assignsGraders', '=', true).select('id'))
    .where((eb) => eb.not(eb.exists(assignmentsIn(db, eb, round))))
    .$if(round === 2, (query) => query.where((eb) => isGradedTwice(eb, db)))
  return db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', 'in', waiting.select('submissions.id'))
    .where('submissionQuestions.points', '>', 0)
    .where((eb) => isUnscored(eb, db))
    .where((eb) => sql<SqlBool>`not ${isUnanswered(eb, db)}`)
}

/** Takes back assignments of assessments that assign nobody any more, except answers that their graders began to grade. */
export async function removeAssignments({ db }: Context): Promise<void> {
  const unassignedSubmissions = db
    .selectFrom('submissions')
    .where('submissions.assessmentId', 'in', db.selectFrom('assessments').where('assignsGraders', '=', false).select('id'))
  const removal = db
    .deleteFrom('gradingAssignments')
    .where('gradingAssignments.isOpen', '=', true)
    .where('gradingAssignments.submissionId', 'in', unassignedSubmissions.select('submissions.id'))
    .where((eb) => eb.not(isBegun(db, eb)))
  await removal.execute()
}

/** Frees answers in a language that a member does not grade (any more), except those that they began to grade. */
export async function freeAssignments(
  { db }: Context,
  { graderId, language }: { graderId: string; language: string | null },
): Promise<void> {
  const freeing = db
    .updateTable('gradingAssignments')
    .set({ graderId: null })
    .where('gradingAssignments.graderId', '=', graderId)
    .where('gradingAssignments.isOpen', '=', true)
    .where('gradingAssignments.language', 'is not distinct from', language)
    .where((eb) => eb.not(isBegun(db, eb)))
  await freeing.execute()
}

/** SQL condition: the grader has saved points or a comment. */
const isBegun = (db: TenantDb, eb: Expressions<'gradingAssignments'>): Condition =>
  eb.exists(
    db
      .selectFrom('grades')
      .where('grades.submissionId', '=', eb.ref('gradingAssignments.submissionId'))
      .where('grades.questionNumber', '=', eb.ref('gradingAssignments.questionNumber'))
      .where('grades.round', '=', eb.ref('gradingAssignments.round'))
      .where('grades.graderId', '=', eb.ref('gradingAssignments.graderId').$notNull())
      .select('grades.id'),
  )

/** Marks whether the answers of a submission still have to be graded. */
export async function setAssignmentsOpen({ db }: Context, submissionId: string, isOpen: boolean): Promise<void> {
  await db.updateTable('gradingAssignments').set({ isOpen }).where('gradingAssignments.submissionId', '=', submissionId).execute()
}

/** SQL condition: one member who may grade holds the whole round. */
export function isRoundHeld(db: TenantDb, eb: Expressions<'submissions'>, round: AssignedRound): Condition {
  const holder = eb.ref(round === 1 ? 'submissions.graderId' : 'submissions.secondGraderId').$notNull()
  return eb.exists(graders(db).where('members.id', '=', holder).select('members.id'))
}

/** SQL condition: each answer of the round that is assigned one by one has a grader who may grade; false without assignments. */
export function isRoundCovered(db: TenantDb, eb: Expressions<'submissions'>, round: AssignedRound): Condition {
  const answers = assignmentsIn(db, eb, round)
  const uncovered = answers.where((assignmentEb) =>
    assignmentEb.not(
      assignmentEb.exists(
        graders(db).where('members.id', '=', assignmentEb.ref('gradingAssignments.graderId').$notNull()).select('members.id'),
      ),
    ),
  )
  return eb.and([eb.exists(answers), eb.not(eb.exists(uncovered))])
}

const assignmentsIn = (db: TenantDb, eb: Expressions<'submissions'>, round: AssignedRound) =>
  db
    .selectFrom('gradingAssignments')
    .where('gradingAssignments.submissionId', '=', eb.ref('submissions.id'))
    .where('gradingAssignments.round', '=', sql.lit(round))
    .select('gradingAssignments.questionNumber')

/** The answers of a submission that are assigned to the member. Nothing while one member holds the whole round. */
export const assignmentsTo = (db: TenantDb, eb: Expressions<'submissions'>, round: AssignedRound, memberId: string) =>
  assignmentsIn(db, eb, round)
    .where('gradingAssignments.graderId', '=', memberId)
    .where(eb.not(isRoundHeld(db, eb, round)) as Condition)

/** SQL condition: some answer of the submission is assigned to the member. The ids come first, because they can use an index. */
export function hasAssignment(db: TenantDb, eb: Expressions<'submissions'>, memberId: string): Condition {
  const openAssignments = db.selectFrom('gradingAssignments').where('graderId', '=', memberId).where('isOpen', '=', true)
  return eb.and([
    eb('submissions.id', '=', sql<string>`any(array(${openAssignments.select('submissionId')}))`),
    eb.or([
      eb.exists(assignmentsTo(db, eb, 1, memberId)),
      eb.and([isGradedTwice(eb, db), eb.exists(assignmentsTo(db, eb, 2, memberId))]),
    ]),
  ])
}
