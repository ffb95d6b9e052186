import type { GradableQuestion } from '../scores.ts'
import { type GradingRound, ROUNDS } from './graded-submission.ts'

/** Two graders' points agree if they differ by at most one fifth of the question's points. */
const AGREEMENT = 5

/** @property levels chosen levels of the rubric, see Grade in the schema. */
export type GradeRow = {
  questionNumber: number
  round: GradingRound
  graderId: string
  points: number | null
  comment: string
  levels: readonly number[]
}
/**
 * Source of the points: the last grade of one grader, the mean of two graders, the decision of an admin or of a third grader, the answer key,
 * or 0 for no answer.
 */
export type PointsSource = 'grader' | 'both' | 'admin' | 'third_grader' | 'key' | 'no_answer'
/** @property thirdGrader true if a third grader decides where two differ. */
type GraderTerms = { secondGrader: boolean; thirdGrader?: boolean }
export type GradingStatus =
  /** Somebody has yet to give points. */
  | { state: 'ungraded' }
  /** Two graders' points are too far apart. */
  | { state: 'undecided'; decides: 'admin' | 'third_grader' }
  | { state: 'graded'; points: number; comment: string; graderId: string | null; by: PointsSource; levels: readonly number[] }

/**
 * Grade that counts for a question: the key's points, unless people gave some. With one grader the last grade counts. With two it
 * is the decision of an admin or third grader, or the mean of both, to the nearest half, if they are close. Without points only comments count.
 *
 * @param grades of the question, oldest first: the last of each round counts.
 */
export function gradingStatusOf(
  question: Pick<GradableQuestion, 'points' | 'scored' | 'unanswered'>,
  grades: readonly GradeRow[],
  { secondGrader, thirdGrader }: GraderTerms,
): GradingStatus {
  if (question.points === 0) return statusByComments(secondGrader ? ROUNDS.map((round) => inRound(grades, round)) : [grades])
  if (!secondGrader) {
    const last = newestWithPoints(grades)
    return last
      ? toGradedStatus(last, last.points, last.comment || lastComment(grades), 'grader')
      : statusWithoutGrades(question, grades)
  }
  const decision = newestWithPoints(inRound(grades, 3))
  if (decision)
    return toGradedStatus(
      decision,
      decision.points,
      decision.comment || keptComment(grades),
      thirdGrader ? 'third_grader' : 'admin',
    )
  const bothGrades = findBoth(grades)
  if (!bothGrades) return statusWithoutGrades(question, grades)
  const [first, second] = bothGrades
  if (Math.abs(first.points - second.points) * AGREEMENT > question.points)
    return { state: 'undecided', decides: thirdGrader ? 'third_grader' : 'admin' }
  const levels = first.levels.map((level, i) => (level === second.levels[i] ? level : 0))
  return toGradedStatus({ ...first, levels }, Math.round(first.points + second.points) / 2, joinComments(bothGrades), 'both')
}

/** Without grades, the points of the key count, or 0 if there is no answer. */
function statusWithoutGrades(
  { scored, unanswered }: Pick<GradableQuestion, 'scored' | 'unanswered'>,
  grades: readonly GradeRow[],
): GradingStatus {
  if (scored === null && !unanswered) return { state: 'ungraded' }
  const source = scored === null ? 'no_answer' : 'key'
  return { state: 'graded', points: scored ?? 0, comment: lastComment(grades), graderId: null, by: source, levels: [] }
}

type GradeWithPoints = GradeRow & { points: number }

const inRound = (grades: readonly GradeRow[], round: GradingRound): GradeRow[] => grades.filter((grade) => grade.round === round)

/** Newest grades of two different graders, for the first and second round. */
function findBoth(grades: readonly GradeRow[]): [GradeWithPoints, GradeWithPoints] | null {
  const first = newestWithPoints(inRound(grades, 1))
  const second = first && newestWithPoints(inRound(grades, 2).filter(({ graderId }) => graderId !== first.graderId))
  return first && second ? [first, second] : null
}

/** Newest grade with points. Only each grader's newest grade counts, so that graders can withdraw points and comments. */
const newestWithPoints = (grades: readonly GradeRow[]): GradeWithPoints | undefined =>
  newestOfEach(grades).findLast((grade): grade is GradeWithPoints => grade.points !== null)

function newestOfEach(grades: readonly GradeRow[]): GradeRow[] {
  const newest = new Map(grades.map((grade) => [grade.graderId, grade]))
  return grades.filter((grade) => newest.get(grade.graderId) === grade)
}

/** Last comment of the deciding grader; without one, the last comments of both graders. */
const keptComment = (grades: readonly GradeRow[]): string =>
  lastComment(inRound(grades, 3)) ||
  [1, 2].flatMap((round) => lastComment(inRound(grades, round as GradingRound)) || []).join('\n\n')

const lastComment = (grades: readonly GradeRow[]): string => lastCommented(grades)?.comment ?? ''

const lastCommented = (grades: readonly GradeRow[]): GradeRow | undefined =>
  newestOfEach(grades).findLast(({ comment }) => comment !== '')

function statusByComments(rounds: (readonly GradeRow[])[]): GradingStatus {
  const last = rounds.flatMap((grades) => lastCommented(grades) ?? [])
  const [first] = last
  return first ? toGradedStatus(first, 0, joinComments(last), 'grader') : { state: 'ungraded' }
}

const joinComments = (grades: readonly GradeRow[]): string =>
  grades.flatMap(({ comment }) => (comment === '' ? [] : [comment])).join('\n\n')

const toGradedStatus = (
  { graderId, levels }: GradeRow,
  points: number,
  comment: string,
  source: PointsSource,
): GradingStatus => ({
  state: 'graded',
  points,
  comment,
  graderId,
  by: source,
  levels,
})

export type WithGradingStatus<Q> = Q & { status: GradingStatus }

/** True if people gave points, agreed or not. */
export const isByPeople = (status: GradingStatus): boolean =>
  status.state === 'undecided' || (status.state === 'graded' && status.by !== 'key' && status.by !== 'no_answer')

/** Grades that count for each question. Questions without points need none. */
export function countGrades<Q extends GradableQuestion>(
  paper: readonly Q[],
  grades: readonly GradeRow[],
  terms: GraderTerms,
): WithGradingStatus<Q>[] {
  const byQuestion = Map.groupBy(grades, ({ questionNumber }) => questionNumber)
  return paper.map((question) => {
    const gradesOfQuestion = byQuestion.get(question.number) ?? []
    const gradingStatus = gradingStatusOf(question, gradesOfQuestion, terms)
    // A person's decision stays; otherwise a dropped question is one without points.
    if (!question.dropped || isByPeople(gradingStatus)) return { ...question, status: gradingStatus }
    const uncounted = { ...question, points: 0 }
    return { ...uncounted, status: gradingStatusOf(uncounted, gradesOfQuestion, terms) }
  })
}

/** Total points, possible points, and a question that prevents a result; null: none does. */
export function sumPoints(questions: readonly WithGradingStatus<{ number: number; points: number }>[]) {
  const counting = questions.filter(({ points }) => points > 0)
  const tenths = counting.reduce((sum, { status }) => sum + (status.state === 'graded' ? Math.round(status.points * 10) : 0), 0)
  // Penalties reduce the total, but not below 0. In tenths, because 0.1 + 0.2 is not 0.3.
  const points = Math.max(0, tenths) / 10
  const ofPoints = counting.reduce((sum, question) => sum + question.points, 0)
  return { points, ofPoints, missing: counting.find(({ status }) => status.state !== 'graded') ?? null }
}

/** Counted points of all questions as one text, to compare two states. */
export const pointsIn = (questions: readonly WithGradingStatus<unknown>[]): string =>
  questions.map(({ status }) => (status.state === 'graded' ? status.points : status.state)).join(' ')

/** Percentage of the points, as a whole number; null without points. */
export const percentOf = (points: number, ofPoints: number): number | null =>
  ofPoints === 0 ? null : Math.round((points * 100) / ofPoints)

/** As {@link percentOf}, to two decimals: for programs, which may want to compare results. */
export const exactPercentOf = (points: number, ofPoints: number): number | null =>
  ofPoints === 0 ? null : Math.round((points * 10_000) / ofPoints) / 100

/** True if both graders gave points for every question that needs them. */
export function haveBothGraded(paper: readonly GradableQuestion[], grades: readonly GradeRow[]): boolean {
  const byQuestion = Map.groupBy(grades, ({ questionNumber }) => questionNumber)
  return paper.every(
    ({ number, points, scored, dropped, unanswered }) =>
      points === 0 || dropped || unanswered || scored !== null || findBoth(byQuestion.get(number) ?? []),
  )
}
