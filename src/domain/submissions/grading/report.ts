import { sql } from '../../../db/builder.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import { currentQuestions, type OrderedQuestion, sortQuestions, type UnorderedQuestion } from './ordered-questions.ts'
import { visibleAssessments } from './visible-assessments.ts'

/** The results of an assessment that were released, of each candidate the newest, all together. */
export type AssessmentReport = {
  assessment: { id: string; name: string }
  /** `results`: number of released results; `scored`: those with points. */
  results: number
  scored: number
  /** Percent, to the nearest whole number; null where no result has points. */
  mean: number | null
  median: number | null
  /** Scored results by percent: 0 to 9, 10 to 19, and so on; the last is 90 to 100. */
  tenths: number[]
  /** Questions with points, in the order of the assessment. */
  questions: OrderedQuestion<QuestionReport>[]
}

type QuestionReport = {
  /** Current text of the question; the released text if the question was removed. */
  script: string
  scriptFormat: string
  /** In how many results it is. */
  results: number
  mean: number
  ofPoints: number
  /** From 0 to 1. */
  share: number
}

const TENTHS = 10

/** @throws DomainError not_permitted; assessment_not_found. */
export async function readReport(ctx: Context, assessmentId: string): Promise<AssessmentReport> {
  const where = { ...visibleAssessments(ctx), id: assessmentId }
  const assessment = isUuid(assessmentId) ? await ctx.db.assessment.findFirst({ where, select: { id: true, name: true } }) : null
  if (!assessment) throw new DomainError('assessment_not_found')
  const [totals, questions] = await Promise.all([sumTotals(ctx, assessment.id), sumQuestions(ctx, assessment.id)])
  return { assessment, ...totals, questions: sortQuestions(questions) }
}

/** Newest release of each submission of the assessment. */
const newestReleases = (ctx: Context, assessmentId: string) =>
  ctx.db
    .selectFrom('submissions')
    .where('submissions.assessmentId', '=', assessmentId)
    .innerJoin(ctx.db.table('releases'), 'releases.submissionId', 'submissions.id')
    .distinctOn('releases.submissionId')
    .orderBy('releases.submissionId')
    .orderBy('releases.version', 'desc')
    .select(['releases.points', 'releases.ofPoints'])

/** One row for each tenth that has results, and one for all results (`tenth` is null). */
async function sumTotals(ctx: Context, assessmentId: string): Promise<Omit<AssessmentReport, 'assessment' | 'questions'>> {
  const releasedTotals = ctx.db.selectFrom(newestReleases(ctx, assessmentId).as('kept')).select(['kept.points', 'kept.ofPoints'])
  // Results of erased candidates, so that past figures don't change.
  const erased = ctx.db
    .selectFrom('erasedResults')
    .where('erasedResults.assessmentId', '=', assessmentId)
    .select(['erasedResults.points', 'erasedResults.ofPoints'])
  const percents = ctx.db
    .selectFrom(releasedTotals.unionAll(erased).as('newest'))
    .select(({ ref }) =>
      sql<number | null>`round(${ref('newest.points')} * 100 / nullif(${ref('newest.ofPoints')}, 0))::int`.as('percent'),
    )
  const results = ctx.db
    .selectFrom(percents.as('result'))
    .select(({ ref }) => [
      'result.percent',
      sql<number | null>`least(${ref('result.percent')} / ${TENTHS}::int, ${TENTHS - 1}::int)`.as('tenth'),
    ])
  const sums = ctx.db
    .selectFrom(results.as('result'))
    .select(({ cast, fn, ref }) => [
      'result.tenth',
      sql<boolean>`grouping(${ref('result.tenth')}) = 1`.as('isAll'),
      cast<number>(fn.countAll(), 'integer').as('results'),
      cast<number>(fn.count('result.percent'), 'integer').as('scored'),
      sql<number | null>`round(avg(${ref('result.percent')}))::int`.as('mean'),
      sql<number | null>`round(percentile_cont(0.5) within group (order by ${ref('result.percent')}))::int`.as('median'),
    ])
    .groupBy(({ ref }) => sql`grouping sets ((${ref('result.tenth')}), ())`)
  const rows = await sums.execute()
  const whole = rows.find(({ isAll }) => isAll)
  const countOf = (tenth: number) => rows.find((row) => !row.isAll && row.tenth === tenth)?.results ?? 0
  return {
    results: whole?.results ?? 0,
    scored: whole?.scored ?? 0,
    mean: whole?.mean ?? null,
    median: whole?.median ?? null,
    tenths: Array.from({ length: TENTHS }, (_, tenth) => countOf(tenth)),
  }
}

/**
 * By question, because a number in the papers means different questions after a change. Papers still have the text of a removed question.
 */
function sumQuestions(ctx: Context, assessmentId: string): Promise<(QuestionReport & UnorderedQuestion)[]> {
  const summed = ctx.db
    .selectFrom('questionResults')
    .where('questionResults.assessmentId', '=', assessmentId)
    .where('questionResults.results', '>', 0)
    .leftJoin(currentQuestions(ctx.db, assessmentId).as('present'), 'present.id', 'questionResults.questionId')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom(ctx.db.table('submissions'))
          .innerJoin(ctx.db.table('submissionQuestions'), 'submissionQuestions.submissionId', 'submissions.id')
          .where('present.id', 'is', null)
          .whereRef('submissions.mode', '=', 'questionResults.mode')
          .whereRef('submissions.assessmentId', '=', 'questionResults.assessmentId')
          .whereRef('submissionQuestions.questionId', '=', 'questionResults.questionId')
          .select(['submissionQuestions.number', 'submissionQuestions.script', 'submissionQuestions.scriptFormat'])
          .orderBy('submissions.id', 'desc')
          .limit(eb.lit(1))
          .as('asked'),
      (join) => join.onTrue(),
    )
  return summed
    .select(['questionResults.questionId as id', 'present.place', 'questionResults.results'])
    .select(({ fn, lit, ref, val }) => [
      fn.coalesce('asked.number', lit(0)).as('number'),
      fn.coalesce('present.script', 'asked.script', val('')).as('script'),
      fn.coalesce('present.scriptFormat', 'asked.scriptFormat', val('plain')).as('scriptFormat'),
      sql<number>`(${ref('questionResults.points')} / ${ref('questionResults.results')})::float8`.as('mean'),
      sql<number>`(${ref('questionResults.ofPoints')}::numeric / ${ref('questionResults.results')})::float8`.as('ofPoints'),
      sql<number>`(${ref('questionResults.points')} / ${ref('questionResults.ofPoints')})::float8`.as('share'),
    ])
    .execute()
}
