import { sql } from '../../../db/builder.ts'
import { anyOfIds } from '../../../db/queries.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { FORMER_GRADER } from '../../loaders/former-members.ts'
import { displayNameOf } from '../../text/display-name.ts'
import { isUuid } from '../../text/uuid.ts'
import { type CriterionAgreement, readCriterionAgreement } from './criterion-agreement.ts'

/** Fewer grades say little about a grader. */
export const MIN_COMPARED_GRADES = 30
/** The newest ones, so that the cost is constant. */
export const MAX_COMPARED_SUBMISSIONS = 2_000

/** Mean and standard deviation of points, as shares of each question's maximum. */
export type Spread = { mean: number; deviation: number }

/**
 * Compares one grader with the others.
 *
 * @property grades number of grades of questions that others have graded, too.
 * @property ownSpread null below {@link MIN_COMPARED_GRADES}.
 * @property othersSpread the others' grades of the same questions, each question weighted by how often this grader graded it.
 */
export type GraderComparison = {
  graderId: string
  name: string
  grades: number
  ownSpread: Spread | null
  othersSpread: Spread | null
}

export type Calibration = {
  assessment: { id: string; name: string }
  graders: GraderComparison[]
  criteria: CriterionAgreement[]
}

/** Compares the graders of an assessment. Decisions between two graders don't count. @throws DomainError not_permitted; assessment_not_found. */
export async function readCalibration(ctx: Context, assessmentId: string): Promise<Calibration> {
  authorize(ctx, 'export')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const assessment = isUuid(assessmentId) ? await ctx.db.assessment.findFirst({ where, select: { id: true, name: true } }) : null
  if (!assessment) throw new DomainError('assessment_not_found')
  const submissionIds = await findNewestSubmissions(ctx, assessment.id)
  const sums = await sumShares(ctx, submissionIds)
  const ids = [...new Set(sums.map(({ graderId }) => graderId))]
  const members = await ctx.db.member.findMany({
    where: { organizationId: ctx.organization.id, id: { in: ids } },
    select: { id: true, erasedAt: true, user: true },
  })
  const names = new Map(members.map(({ id, erasedAt, user }) => [id, erasedAt ? FORMER_GRADER : displayNameOf(user)]))
  const graders = ids.map((graderId) => ({
    graderId,
    name: names.get(graderId) ?? FORMER_GRADER,
    ...compareGrader(sums, graderId),
  }))
  return {
    assessment,
    graders: graders.toSorted((one, other) => other.grades - one.grades || (one.graderId < other.graderId ? -1 : 1)),
    criteria: await readCriterionAgreement(ctx, assessment.id, submissionIds),
  }
}

/** Number, sum, and sum of squares of the shares that a grader gave for a question. */
export type ShareSums = { questionId: string; graderId: string; count: number; sum: number; squares: number }

async function findNewestSubmissions({ db }: Context, assessmentId: string): Promise<string[]> {
  const newest = await db
    .selectFrom('submissions')
    .where('submissions.assessmentId', '=', assessmentId)
    .where('submissions.state', 'in', [sql.lit('submitted' as const), sql.lit('released' as const)])
    .orderBy('submissions.id', 'desc')
    .limit(MAX_COMPARED_SUBMISSIONS)
    .select('submissions.id')
    .execute()
  return newest.map(({ id }) => id)
}

function sumShares({ db }: Context, submissionIds: string[]): Promise<ShareSums[]> {
  const newestGrades = db
    .selectFrom('grades')
    .where('grades.submissionId', '=', anyOfIds(submissionIds))
    .where('grades.round', '<', 3)
    .distinctOn(['grades.submissionId', 'grades.questionNumber', 'grades.graderId'])
    .orderBy('grades.submissionId')
    .orderBy('grades.questionNumber')
    .orderBy('grades.graderId')
    .orderBy('grades.updatedAt', 'desc')
    .orderBy('grades.id', 'desc')
    .select(['grades.submissionId', 'grades.questionNumber', 'grades.graderId', 'grades.points'])
  const shares = db
    .selectFrom(newestGrades.as('given'))
    .where('given.points', 'is not', null)
    .innerJoin(db.table('submissionQuestions'), (join) =>
      join
        .onRef('submissionQuestions.submissionId', '=', 'given.submissionId')
        .onRef('submissionQuestions.number', '=', 'given.questionNumber'),
    )
    .where('submissionQuestions.points', '>', 0)
    .select(({ ref }) => [
      'submissionQuestions.questionId',
      'given.graderId',
      sql<number>`${ref('given.points')}::float8 / ${ref('submissionQuestions.points')}`.as('share'),
    ])
  return db
    .selectFrom(shares.as('one'))
    .select(({ cast, fn, ref }) => [
      'one.questionId',
      'one.graderId',
      cast<number>(fn.countAll(), 'integer').as('count'),
      fn.sum<number>('one.share').as('sum'),
      sql<number>`sum(${ref('one.share')} * ${ref('one.share')})`.as('squares'),
    ])
    .groupBy(['one.questionId', 'one.graderId'])
    .execute()
}

/** Figures of one grader, from the sums of all graders. */
function compareGrader(
  sums: readonly ShareSums[],
  graderId: string,
): Pick<GraderComparison, 'grades' | 'ownSpread' | 'othersSpread'> {
  const pairs = sums
    .filter((sums) => sums.graderId === graderId)
    .map((ownSums) => ({
      own: ownSums,
      others: total(sums.filter((sums) => sums.questionId === ownSums.questionId && sums.graderId !== graderId)),
    }))
    .filter(({ others }) => others.count > 0)
  const ownTotal = total(pairs.map(({ own }) => own))
  if (ownTotal.count < MIN_COMPARED_GRADES) return { grades: ownTotal.count, ownSpread: null, othersSpread: null }
  const othersTotal = total(
    pairs.map(({ own, others }) => {
      const weight = own.count / others.count
      return { count: own.count, sum: others.sum * weight, squares: others.squares * weight }
    }),
  )
  return { grades: ownTotal.count, ownSpread: spreadOf(ownTotal), othersSpread: spreadOf(othersTotal) }
}

type Sums = Pick<ShareSums, 'count' | 'sum' | 'squares'>

const total = (sums: readonly Sums[]): Sums =>
  sums.reduce(
    (totals, { count, sum, squares }) => ({
      count: totals.count + count,
      sum: totals.sum + sum,
      squares: totals.squares + squares,
    }),
    { count: 0, sum: 0, squares: 0 },
  )

function spreadOf({ count, sum, squares }: Sums): Spread {
  const mean = sum / count
  // Rounding may make it negative.
  return { mean, deviation: Math.sqrt(Math.max(0, squares / count - mean * mean)) }
}
