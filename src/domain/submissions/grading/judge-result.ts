import { scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import { bandOf, readBands } from '../../assessments/bands.ts'
import type { Context } from '../../context.ts'
import type { AnswerPart } from '../../ports/question-kind.ts'
import { percentOf } from './grading-status.ts'

type GradeToJudge = { number: number; points: number | null; ofPoints: number }
type ResultToJudge = { submissionId: string; points: number; ofPoints: number; grades: readonly GradeToJudge[] }
/** Columns of a release. @property knockedOut numbers of the questions whose required percentage was missed. */
export type Judgement = { band: string | null; knockedOut: number[] }

/** Judges results by the present bands and required percentages of their assessments, by submission. */
export async function judgeResults(ctx: Context, results: readonly ResultToJudge[]): Promise<Map<string, Judgement>> {
  const { db, organization } = ctx
  const where = { organizationId: organization.id }
  const submissions = await db.submission.findMany({
    where: { ...scopeWhere(ctx), id: anyOf(results.map(({ submissionId }) => submissionId)) },
    select: { id: true, assessment: { select: { bands: true } }, paper: { select: { number: true, questionId: true } } },
  })
  const questionIds = [...new Set(submissions.flatMap(({ paper }) => paper.map(({ questionId }) => questionId)))]
  const requiring = await db.question.findMany({
    where: { ...where, id: anyOf(questionIds), requiredPercent: { not: null } },
    select: { id: true, requiredPercent: true },
  })
  const required = new Map(requiring.map(({ id, requiredPercent }) => [id, requiredPercent!]))
  const judged = results.map(async ({ submissionId, points, ofPoints, grades }): Promise<[string, Judgement]> => {
    const submission = submissions.find(({ id }) => id === submissionId)
    const requiredQuestions = (submission?.paper ?? []).filter(({ questionId }) => required.has(questionId))
    const shares = requiredQuestions.length > 0 ? await findSharesWithoutPoints(ctx, submissionId) : new Map<number, number>()
    const knockedOut = requiredQuestions.flatMap(({ number, questionId }) => {
      const grade = grades.find((candidate) => candidate.number === number)
      const share = grade && grade.points !== null && grade.ofPoints > 0 ? grade.points / grade.ofPoints : shares.get(number)
      // A question that is not counted, or that nobody judged, knocks nobody out.
      return share !== undefined && Math.round(share * 10_000) < required.get(questionId)! * 100 ? [number] : []
    })
    return [
      submissionId,
      { band: bandOf(readBands(submission?.assessment.bands ?? []), percentOf(points, ofPoints)), knockedOut },
    ]
  })
  return new Map(await Promise.all(judged))
}

/** Shares of questions with 0 points, by number: 1 if the key finds no part of the answer wrong or missing, else 0. */
async function findSharesWithoutPoints({ db, organization }: Context, submissionId: string): Promise<Map<number, number>> {
  const scores = await db.questionScore.findMany({
    where: { organizationId: organization.id, submissionId, question: { points: 0 } },
    distinct: ['questionNumber'],
    orderBy: [{ questionNumber: 'asc' }, { keyNumber: 'desc' }],
    select: { questionNumber: true, parts: true, dropped: true },
  })
  const isRight = (parts: AnswerPart[]) =>
    parts.some(({ verdict }) => verdict === 'right') && parts.every(({ verdict }) => verdict !== 'wrong' && verdict !== 'missed')
  return new Map(
    scores.flatMap(({ questionNumber, parts, dropped }) =>
      dropped ? [] : [[questionNumber, isRight(parts as AnswerPart[]) ? 1 : 0] as const],
    ),
  )
}
