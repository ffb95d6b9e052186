import { sql } from '../../../db/builder.ts'
import { project } from '../../../db/queries.ts'
import { jsonOf } from '../../../db/statements.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../../audit/run-export.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { addressOrFormer, FORMER_GRADER } from '../../loaders/former-members.ts'
import { isUuid } from '../../text/uuid.ts'
import type { GradableQuestion } from '../scores.ts'
import { gradingFacts } from '../scores.ts'
import { newestGrades } from './grades.ts'
import { countGrades, type GradeRow, isByPeople, percentOf, sumPoints } from './grading-status.ts'
import { currentQuestions, type OrderedQuestion, sortQuestions, type UnorderedQuestion } from './ordered-questions.ts'

/** A column of the export. */
export type ExportedQuestion = OrderedQuestion<UnorderedQuestion>

/** A submission with its current grades, released or not. */
export type ExportedGrades = {
  submissionId: string
  inviteId: string
  recipientEmail: string
  recipientName: string | null
  state: 'submitted' | 'released'
  submittedAt: Date | null
  /** Effective points by question id, without ungraded questions. */
  points: Map<string, number>
  /** By the same ids: whether its key has given them, or people. */
  givenBy: Map<string, 'key' | 'person'>
  /** Null until everything is graded, and where there are no points. */
  total: number | null
  ofPoints: number
  /** Questions that prevent a result: ungraded, or waiting for a decision. */
  toGrade: number
  /** A whole number; null where the total is. */
  percent: number | null
  /** Addresses of the members who gave points. */
  graders: string[]
  version: number | null
  releasedAt: Date | null
}

/**
 * Columns of the export: the assessment's questions, and removed ones that were submitted.
 *
 * @throws DomainError not_permitted; assessment_not_found.
 */
export async function listExportedQuestions(ctx: Context, assessmentId: string): Promise<ExportedQuestion[]> {
  const { id } = await findExportedAssessment(ctx, assessmentId)
  const submittedQuestions = submittedTo(ctx, id)
    .innerJoin(ctx.db.table('submissionQuestions'), 'submissionQuestions.submissionId', 'submissions.id')
    .select(({ fn }) => ['submissionQuestions.questionId as id', fn.max('submissionQuestions.number').as('number')])
    .groupBy('submissionQuestions.questionId')
  const questions = await ctx.db
    .selectFrom(currentQuestions(ctx.db, id).as('present'))
    .fullJoin(submittedQuestions.as('asked'), 'asked.id', 'present.id')
    .select(({ fn, lit }) => [
      fn.coalesce('present.id', 'asked.id').$notNull().as('id'),
      'present.place',
      fn.coalesce('asked.number', lit(0)).as('number'),
    ])
    .execute()
  return sortQuestions(questions)
}

/**
 * Exports the submissions of an assessment with their effective points, ordered by id.
 *
 * @throws DomainError not_permitted; assessment_not_found; too_many_exports.
 */
export async function exportGrades(ctx: Context, assessmentId: string, write: WriteBatch<ExportedGrades>): Promise<void> {
  const { id, secondGrader } = await findExportedAssessment(ctx, assessmentId)
  const exported = { action: 'exported_grades', filter: { assessmentId: id } } as const
  await runExport(ctx, exported, async (last) => (await findRows(ctx, id, last?.submissionId)).map(toExported), write)

  function toExported({ paper, grades, keepsOneGrader, ...row }: Row): ExportedGrades {
    const terms = { secondGrader: secondGrader && !keepsOneGrader }
    const questions = countGrades(paper, grades, terms).filter(({ points }) => points > 0)
    const { points: sum, ofPoints } = sumPoints(questions)
    const graded = questions.flatMap(({ questionId, status }) =>
      status.state === 'graded' ? [{ questionId, points: status.points, isByPeople: isByPeople(status) }] : [],
    )
    const toGrade = questions.length - graded.length
    const total = toGrade > 0 || ofPoints === 0 ? null : sum
    const percent = total === null ? null : percentOf(total, ofPoints)
    const points = new Map(graded.map((question) => [question.questionId, question.points]))
    const givenBy = new Map(
      graded.map(({ questionId, isByPeople }) => [questionId, isByPeople ? ('person' as const) : ('key' as const)]),
    )
    return { ...row, points, givenBy, total, ofPoints, toGrade, percent }
  }
}

/** Only admins may export unreleased grades. */
export async function findExportedAssessment(ctx: Context, assessmentId: string): Promise<{ id: string; secondGrader: boolean }> {
  authorize(ctx, 'export')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const found = isUuid(assessmentId)
    ? await ctx.db.assessment.findFirst({ where, select: { id: true, secondGrader: true } })
    : null
  if (!found) throw new DomainError('assessment_not_found')
  return found
}

const submittedTo = (ctx: Context, assessmentId: string) =>
  ctx.db
    .selectFrom('submissions')
    .where('submissions.assessmentId', '=', assessmentId)
    .where('submissions.state', 'in', [sql.lit('submitted' as const), sql.lit('released' as const)])

type Row = Omit<ExportedGrades, 'points' | 'givenBy' | 'total' | 'ofPoints' | 'toGrade' | 'percent'> & {
  keepsOneGrader: boolean
  paper: (GradableQuestion & { questionId: string })[]
  /** Newest grades, oldest first, without comments, which may be long. */
  grades: GradeRow[]
}

/** Papers and grades as one value each: as rows they would cost the process several times as much. */
function findRows(ctx: Context, assessmentId: string, after: string | undefined): Promise<Row[]> {
  const further = after === undefined ? submittedTo(ctx, assessmentId) : submittedTo(ctx, assessmentId).where('id', '>', after)
  const page = project(ctx.db, further.orderBy('submissions.id').limit(EXPORTED_AT_ONCE), 'submissions', (rows) => rows)
  return page
    .innerJoin(ctx.db.table('invites'), 'invites.id', 'submissions.inviteId')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom(ctx.db.table('releases'))
          .whereRef('releases.submissionId', '=', 'submissions.id')
          .select(['releases.version', 'releases.createdAt'])
          .orderBy('releases.version', 'desc')
          .limit(eb.lit(1))
          .as('release'),
      (join) => join.onTrue(),
    )
    .select(['submissions.id as submissionId', 'submissions.inviteId', 'invites.recipientEmail', 'invites.recipientName'])
    .select((eb) => eb.ref('submissions.state').$castTo<ExportedGrades['state']>().as('state'))
    .select(['submissions.submittedAt', 'submissions.keepsOneGrader', 'release.version', 'release.createdAt as releasedAt'])
    .select((eb) => {
      const paper = eb
        .selectFrom(ctx.db.table('submissionQuestions'))
        .whereRef('submissionQuestions.submissionId', '=', 'submissions.id')
        .select(['submissionQuestions.number', 'submissionQuestions.questionId', 'submissionQuestions.points'])
        .select((paper) => gradingFacts(paper, ctx.db))
        .orderBy('submissionQuestions.number')
      const graders = eb
        .selectFrom(ctx.db.table('grades'))
        .innerJoin(ctx.db.table('members'), 'members.id', 'grades.graderId')
        .whereRef('grades.submissionId', '=', 'submissions.id')
        .where('grades.points', 'is not', null)
        .select(({ ref }) =>
          addressOrFormer({ email: ref('members.email'), erasedAt: ref('members.erasedAt') }, FORMER_GRADER).as('who'),
        )
        .distinct()
        .orderBy('who')
      return [
        jsonOf(paper).as('paper'),
        jsonOf(newestGrades(ctx.db, eb.ref('submissions.id'))).as('grades'),
        sql<string[]>`array(${graders})`.as('graders'),
      ]
    })
    .orderBy('submissions.id')
    .execute()
}
