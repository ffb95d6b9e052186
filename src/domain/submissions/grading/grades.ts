import { sql } from '../../../db/builder.ts'
import { type Expression, project } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { type ListPage, type PageRequest, readPage } from '../../lists/page.ts'
import { displayNameOf } from '../../text/display-name.ts'
import type { GradableQuestion } from '../scores.ts'
import {
  findPaper,
  findSubmitted,
  type GradingRound,
  requireRound,
  type SubmissionToGrade,
  throwSubmissionNotFound,
} from './graded-submission.ts'
import { type GradeRow, haveBothGraded } from './grading-status.ts'

/** A grade with its grader. */
export type GradeByPerson = GradeRow & { id: string; name: string; createdAt: Date; updatedAt: Date }

/** A grader's current grade of a question. @property earlier number of the grader's earlier grades of it. */
export type NewestGrade = GradeByPerson & { earlier: number }

/** Newest grade of each grader in each round. Earlier ones cost only counting. */
export async function findGrades(ctx: Context, submissionId: string): Promise<NewestGrade[]> {
  const rows = await newestGradeRows(ctx.db, submissionId).execute()
  return rows.map(({ firstName, lastName, email, ...row }) => ({ ...row, name: displayNameOf({ firstName, lastName, email }) }))
}

function newestGradeRows(db: TenantDb, submissionId: string) {
  const ofGrader = ['grades.questionNumber', 'grades.round', 'grades.graderId'] as const
  const gradesOfQuestions = db
    .selectFrom('grades')
    .where('submissionId', '=', submissionId)
    .select(['grades.organizationId', 'grades.id', 'grades.graderId', 'grades.questionNumber', 'grades.round', 'grades.points'])
    .select(['grades.comment', 'grades.levels', 'grades.createdAt', 'grades.updatedAt'])
    .select(({ cast, fn }) => [
      fn
        .agg('row_number')
        .over((window) => window.partitionBy(ofGrader).orderBy('grades.updatedAt', 'desc').orderBy('grades.id', 'desc'))
        .as('place'),
      cast<number>(
        fn.countAll().over((window) => window.partitionBy(ofGrader)),
        'integer',
      ).as('count'),
    ])
  return db
    .selectFrom('members')
    .innerJoin(db.table('users'), 'users.id', 'members.userId')
    .innerJoin(gradesOfQuestions.as('given'), 'given.graderId', 'members.id')
    .where('given.place', '=', 1)
    .select(['given.id', 'given.questionNumber', 'given.graderId', 'given.comment', 'given.createdAt', 'given.updatedAt'])
    .select('given.levels')
    .select((eb) => [
      eb.ref('given.round').$castTo<GradingRound>().as('round'),
      eb.cast<number | null>('given.points', 'float8').as('points'),
      eb('given.count', '-', 1).as('earlier'),
    ])
    .select(['users.firstName', 'users.lastName', 'users.email'])
    .orderBy('given.updatedAt')
    .orderBy('given.id')
}

/** Newest grades of a submission, oldest first, without comments, which may be long, and without levels. In JSON points are numbers. */
export function newestGrades(db: TenantDb, submissionId: Expression<string>) {
  const newest = db
    .selectFrom('grades')
    .where('submissionId', '=', submissionId)
    .distinctOn(['questionNumber', 'round', 'graderId'])
    .orderBy('questionNumber')
    .orderBy('round')
    .orderBy('graderId')
    .orderBy('updatedAt', 'desc')
    .orderBy('id', 'desc')
  return project(db, newest, 'grades', (rows) =>
    rows
      .select((eb) => [
        'questionNumber',
        'graderId',
        eb.ref('round').$castTo<GradingRound>().as('round'),
        eb.ref('points').$castTo<number | null>().as('points'),
        sql<string>`''`.as('comment'),
        sql<number[]>`'{}'::smallint[]`.as('levels'),
      ])
      .orderBy('updatedAt')
      .orderBy('id'),
  )
}

/**
 * All that were ever given for a question, as far as the grader may see them, newest first.
 *
 * @throws DomainError not_permitted; submission_not_found, also for a question that the paper does not have.
 */
export async function listGrades(
  ctx: Context,
  { submissionId, number }: { submissionId: string; number: number },
  page: PageRequest,
): Promise<ListPage<GradeByPerson>> {
  const submission = await findSubmitted(ctx, submissionId)
  const round = requireRound(ctx, submission)
  const paper = await findPaper(ctx, submissionId)
  if (!paper.some((question) => question.number === number)) throwSubmissionNotFound()
  const isOpen = canSeeAllGrades(round, submission, paper, await findGrades(ctx, submissionId))
  const key = { organizationId: ctx.organization.id, submissionId, questionNumber: number }
  const where = { ...key, ...(!isOpen && { round }) } satisfies Prisma.GradeWhereInput
  const include = { grader: { include: { user: true } } } satisfies Prisma.GradeInclude
  const orderBy = [{ updatedAt: 'desc' }, { id: 'desc' }] satisfies Prisma.GradeOrderByWithRelationInput[]
  return readPage(
    page,
    () => ctx.db.grade.count({ where }),
    async (window) => {
      const rows = await ctx.db.grade.findMany({ where, include, orderBy, ...window })
      return rows.map(({ grader, points, round, ...row }) => ({
        ...row,
        round: round as GradingRound,
        points: points === null ? null : Number(points),
        name: displayNameOf(grader.user),
      }))
    },
  )
}

type GraderSettings = { assessment: Pick<SubmissionToGrade['assessment'], 'secondGrader'> }
type Paper = readonly GradableQuestion[]

/** True if the grader may see all grades. Of two graders neither sees the other's until both have graded everything. */
export const canSeeAllGrades = (
  round: GradingRound,
  { assessment }: GraderSettings,
  paper: Paper,
  grades: readonly GradeRow[],
): boolean => !assessment.secondGrader || round === 3 || haveBothGraded(paper, grades)

/** Grades that a grader of this round may see. */
export const visibleGrades = <G extends GradeRow>(
  round: GradingRound,
  terms: GraderSettings,
  paper: Paper,
  grades: readonly G[],
): G[] => {
  const isOpen = canSeeAllGrades(round, terms, paper, grades)
  return grades.filter((grade) => isOpen || grade.round === round)
}
