import { scopeWhere } from '../../../db/queries.ts'
import { anyOf } from '../../../db/query.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { isUuid } from '../../text/uuid.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { chooseAnswer } from '../choose-answer.ts'
import { newestRelease } from '../newest-release.ts'
import { gradesOf, type Result, toResult } from './results.ts'
import type { ReleasedCriterion } from './rubrics.ts'

// Released results side by side. A row is a question in one version, because numbers differ where questions are drawn.

export const COMPARED = { minimum: 2, maximum: 4 }

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, blindGrading: true } },
  paper: {
    select: { number: true, questionId: true, versionId: true, script: true, scriptFormat: true, points: true },
    orderBy: { number: 'asc' },
  },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** Points of one person for a question. @property points null: not graded by points. */
export type ComparedCell = { number: number; points: number | null; ofPoints: number }
/** A criterion of the question's rubric. @property cells by person; undefined without a chosen level. */
export type ComparedCriterion = {
  name: string
  ofPoints: number
  cells: ({ text: string; points: number; ofPoints: number } | undefined)[]
}
/** @property cells by person; undefined for people who were not asked. */
export type ComparedQuestion = Pick<Row['paper'][number], 'script' | 'scriptFormat' | 'points'> & {
  cells: (ComparedCell | undefined)[]
  criteria: ComparedCriterion[]
}
/** @property name a pseudonym while names are hidden. */
export type ComparedPerson = Pick<Row, 'id' | 'assessment' | 'decision'> & { name: string; result: Result }
/** @property isBlind true if an assessment is graded blind, so that names are hidden until the reader asks for them. */
export type Comparison = { people: ComparedPerson[]; questions: ComparedQuestion[]; isBlind: boolean }

/** Row by which people are sorted, the best first: a question, or a criterion of it. Both count from 0. */
export type ComparedRow = { question: number; criterion?: number | undefined }
/** @property sort undefined: by total. */
type CompareOptions = { names: boolean; sort?: ComparedRow | undefined }

/**
 * Compares two to four released results. Unknown ids are ignored.
 *
 * @throws DomainError not_permitted; invalid: `comparedCount`.
 */
export async function compareResults(ctx: Context, ids: string[], { names, sort }: CompareOptions): Promise<Comparison> {
  authorize(ctx, 'decide')
  const where = { ...scopeWhere(ctx), id: anyOf([...new Set(ids.filter(isUuid))].slice(0, COMPARED.maximum + 1)) }
  const found = await ctx.db.submission.findMany({ where: { ...where, releasedAt: { not: null } }, include })
  const isCount = found.length >= COMPARED.minimum && found.length <= COMPARED.maximum
  throwIfIssues(isCount ? [] : [{ field: '', rule: 'account', problem: 'comparedCount', limit: found.length }])
  const byTotal = found.sort((a, b) => shareOf(b) - shareOf(a) || (a.id < b.id ? -1 : 1))
  const keys = [...new Set(byTotal.flatMap(({ paper }) => paper.map(keyOf)))]
  const questions = keys.map((key) => compareQuestion(byTotal, key))
  const order = orderBy(questions, sort, byTotal.length)
  const inOrder = <T>(values: readonly T[]): T[] => order.map((i) => values[i]!)
  const isBlind = byTotal.some(({ assessment }) => assessment.blindGrading)
  return {
    isBlind,
    people: inOrder(byTotal).map(({ id, assessment, decision, invite, releases }) => ({
      ...{ id, assessment, decision },
      name: isBlind && !names ? `Candidate ${id.slice(-4).toUpperCase()}` : (invite.recipientName ?? invite.recipientEmail),
      result: toResult(releases[0]!),
    })),
    questions: questions.map((question) => ({
      ...question,
      cells: inOrder(question.cells),
      criteria: question.criteria.map((criterion) => ({ ...criterion, cells: inOrder(criterion.cells) })),
    })),
  }
}

/** The people's places in the order by a row, the best first. Equal ones stay in the order of totals. */
function orderBy(questions: readonly ComparedQuestion[], sort: ComparedRow | undefined, people: number): number[] {
  const places = Array.from({ length: people }, (_, i) => i)
  const question = sort && questions[sort.question]
  const row = sort?.criterion === undefined ? question : question?.criteria[sort.criterion]
  const pointsAt = (place: number) => row?.cells[place]?.points ?? Number.NEGATIVE_INFINITY
  return row ? places.sort((a, b) => pointsAt(b) - pointsAt(a) || a - b) : places
}

function compareQuestion(people: readonly Row[], key: string): ComparedQuestion {
  const askedQuestions = people.map((person) => findAsked(person, key))
  const { script, scriptFormat, points } = askedQuestions.find((asked) => asked !== undefined)!.question
  const names = [...new Set(askedQuestions.flatMap((asked) => asked?.rubric.map(({ criterion }) => criterion) ?? []))]
  return {
    ...{ script, scriptFormat, points },
    cells: askedQuestions.map((asked) => asked?.cell),
    criteria: names.map((name) => compareCriterion(askedQuestions, name)),
  }
}

type Asked = { question: Row['paper'][number]; cell: ComparedCell; rubric: ReleasedCriterion[] }

function findAsked({ paper, releases }: Row, key: string): Asked | undefined {
  const question = paper.find((candidate) => keyOf(candidate) === key)
  if (!question) return undefined
  const grade = gradesOf(releases[0]!).find(({ number }) => number === question.number)
  const cell = { number: question.number, points: grade?.points ?? null, ofPoints: grade?.ofPoints ?? question.points }
  return { question, cell, rubric: grade?.rubric ?? [] }
}

/** Criteria are the same if they have the same name: authors may correct the words of levels. */
function compareCriterion(askedQuestions: readonly (Asked | undefined)[], name: string): ComparedCriterion {
  const released = askedQuestions.map((question) => question?.rubric.find(({ criterion }) => criterion === name))
  return {
    name,
    ofPoints: Math.max(...released.map((criterion) => criterion?.ofPoints ?? 0)),
    cells: released.map((criterion) =>
      criterion && criterion.points !== null
        ? { text: criterion.text, points: criterion.points, ofPoints: criterion.ofPoints }
        : undefined,
    ),
  }
}

/** Text and recordings have no version, so their words count, too. */
const keyOf = ({ questionId, versionId, script }: Row['paper'][number]): string => JSON.stringify([questionId, versionId, script])

function shareOf({ releases }: Row): number {
  const { points, ofPoints } = toResult(releases[0]!)
  return ofPoints === 0 ? -1 : points / ofPoints
}

const attemptInclude = {
  media: true,
  files: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
} satisfies Prisma.AnswerAttemptInclude
/** Answer to a compared question; undefined if the candidate gave none. */
export type ComparedAnswer = Prisma.AnswerAttemptGetPayload<{ include: typeof attemptInclude }> | undefined

/** Answers of a row of the comparison, by person. */
export async function readComparedAnswers(
  ctx: Context,
  { people }: Comparison,
  { cells }: ComparedQuestion,
): Promise<ComparedAnswer[]> {
  authorize(ctx, 'decide')
  const askedAnswers = people.flatMap(({ id: submissionId }, i) => {
    const cell = cells[i]
    return cell ? [{ submissionId, questionNumber: cell.number }] : []
  })
  const attempts = await ctx.db.answerAttempt.findMany({
    where: { organizationId: ctx.organization.id, OR: askedAnswers },
    include: attemptInclude,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return people.map(({ id }) => chooseAnswer(attempts.filter(({ submissionId }) => submissionId === id)))
}
