import { Prisma } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../uuid.ts'
import { type Asked, inAskedOrder, presentQuestions, type Unordered } from './asked.ts'
import { visibleAssessments } from './results.ts'

/** The results of an assessment that were released, of each candidate the newest, all together. */
export type Report = {
  assessment: { id: string; name: string }
  /** How many results there are, and how many of them have points, so a share of them in percent. */
  results: number
  scored: number
  /** Percent, to the nearest whole number; null where no result has points. */
  mean: number | null
  median: number | null
  /** How many of the scored reach 0 to 9 percent, 10 to 19 and so on; 90 to 100 are the last. */
  tenths: number[]
  /** Those that give points, in the order of the assessment. */
  questions: Asked<QuestionReport>[]
}

type QuestionReport = {
  /** As it is asked now; as it was where it is no longer. */
  script: string
  /** In how many results it is. */
  results: number
  /** Of the points that were given, and of those that there were. */
  mean: number
  ofPoints: number
  /** From 0 to 1. */
  share: number
}

const TENTHS = 10

/** @throws DomainError not_permitted; assessment_not_found. */
export async function readReport(ctx: Context, assessmentId: string): Promise<Report> {
  const where = { ...visibleAssessments(ctx), id: assessmentId }
  const assessment = isUuid(assessmentId) ? await ctx.db.assessment.findFirst({ where, select: { id: true, name: true } }) : null
  if (!assessment) throw new DomainError('assessment_not_found')
  const [totals, questions] = await Promise.all([sumTotals(ctx, assessment.id), sumQuestions(ctx, assessment.id)])
  return { assessment, ...totals, questions: inAskedOrder(questions) }
}

/** SQL: of each submission of the assessment what was released last. */
const newestOf = ({ organization }: Context, assessmentId: string): Prisma.Sql => Prisma.sql`
  SELECT DISTINCT ON (r.submission_id) r.points, r.of_points
  FROM submissions s
  JOIN releases r ON r.organization_id = s.organization_id AND r.submission_id = s.id
  WHERE s.organization_id = ${organization.id}::uuid AND s.assessment_id = ${assessmentId}::uuid
  ORDER BY r.submission_id, r.version DESC`

type Tenth = { tenth: number | null; results: number; mean: number | null; median: number | null }

/** One row for each tenth that somebody reaches, and one (`tenth` is null) for all of them. */
async function sumTotals(ctx: Context, assessmentId: string): Promise<Omit<Report, 'assessment' | 'questions'>> {
  const rows = await ctx.db.$queryRaw<(Tenth & { isAll: boolean; scored: number })[]>`
    SELECT tenth, grouping(tenth) = 1 AS "isAll", count(*)::int AS results, count(percent)::int AS scored,
      round(avg(percent))::int AS mean, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY percent))::int AS median
    FROM (
      SELECT percent, LEAST(percent / ${TENTHS}::int, ${TENTHS - 1}::int) AS tenth
      FROM (SELECT round(points * 100 / NULLIF(of_points, 0))::int AS percent FROM (${newestOf(ctx, assessmentId)}) AS newest) AS result
    ) AS result
    GROUP BY GROUPING SETS ((tenth), ())`
  const all = rows.find(({ isAll }) => isAll)
  const countOf = (tenth: number) => rows.find((row) => !row.isAll && row.tenth === tenth)?.results ?? 0
  return {
    results: all?.results ?? 0,
    scored: all?.scored ?? 0,
    mean: all?.mean ?? null,
    median: all?.median ?? null,
    tenths: Array.from({ length: TENTHS }, (_, tenth) => countOf(tenth)),
  }
}

/** By question: what papers have at one place differs once questions were changed. Of one that was removed the papers know the text. */
const sumQuestions = (ctx: Context, assessmentId: string) => ctx.db.$queryRaw<(QuestionReport & Unordered)[]>`
  SELECT question_id AS id, present.place, COALESCE(asked.number, 0) AS number, COALESCE(present.script, asked.script, '') AS script, results,
    (points / results)::float8 AS mean, (of_points::numeric / results)::float8 AS "ofPoints", (points / of_points)::float8 AS share
  FROM question_results q
  LEFT JOIN (${presentQuestions(ctx, assessmentId)}) AS present ON present.id = question_id
  LEFT JOIN LATERAL (
    SELECT p.number, p.script FROM submissions s
    JOIN paper_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id
    WHERE present.id IS NULL AND s.organization_id = q.organization_id AND s.assessment_id = q.assessment_id AND p.question_id = q.question_id
    ORDER BY s.id DESC LIMIT 1
  ) AS asked ON true
  WHERE q.organization_id = ${ctx.organization.id}::uuid AND q.assessment_id = ${assessmentId}::uuid AND results > 0`
