import { sql } from '../../../db/builder.ts'
import type { Condition, Expression, Expressions } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'

/** SQL expression: number of answers a member has to grade, whether assigned one by one or with a whole submission. */
export const countUngradedAnswers = (db: TenantDb, eb: Expressions<'members'>) =>
  sql<number>`((${countAssigned(db, eb)}) + (${countHeld(db, eb)}))::integer`

/** Answers that are assigned one by one. */
const countAssigned = (db: TenantDb, eb: Expressions<'members'>) =>
  db
    .selectFrom('gradingAssignments')
    .innerJoin(db.table('submissions'), 'submissions.id', 'gradingAssignments.submissionId')
    .where('gradingAssignments.graderId', '=', eb.ref('members.id'))
    .where('gradingAssignments.isOpen', '=', true)
    .where(({ not, ref }) =>
      not(isGradedBy(db, eb, ref('gradingAssignments.submissionId'), ref('gradingAssignments.questionNumber'))),
    )
    .select(({ fn }) => fn.countAll().as('count'))

/** Answers of submissions that are assigned as a whole. */
const countHeld = (db: TenantDb, eb: Expressions<'members'>) =>
  db
    .selectFrom('submissions')
    .innerJoin(db.table('submissionQuestions'), 'submissionQuestions.submissionId', 'submissions.id')
    .where('submissions.state', '=', sql.lit('submitted'))
    .where('submissions.needsGrading', 'is not', false)
    .where('submissionQuestions.points', '>', 0)
    .where((questionEb) =>
      questionEb.or([
        questionEb('submissions.graderId', '=', eb.ref('members.id')),
        questionEb('submissions.secondGraderId', '=', eb.ref('members.id')),
      ]),
    )
    .where(({ not, ref }) => not(isGradedBy(db, eb, ref('submissions.id'), ref('submissionQuestions.number'))))
    .select(({ fn }) => fn.countAll().as('count'))

/** SQL condition: the member has given the answer points. */
const isGradedBy = (
  db: TenantDb,
  eb: Expressions<'members'>,
  submissionId: Expression<string>,
  questionNumber: Expression<number>,
): Condition =>
  eb.exists(
    db
      .selectFrom('grades')
      .where('grades.submissionId', '=', submissionId)
      .where('grades.questionNumber', '=', questionNumber)
      .where('grades.graderId', '=', eb.ref('members.id'))
      .where('grades.points', 'is not', null)
      .select('grades.id'),
  )
