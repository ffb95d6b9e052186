import type { Round } from './access.ts'

/** What counts of the grades that an answer was given. */

/** Of two graders' points: how far apart they may be, as a part of the question's. */
const AGREEMENT = 0.2

export type GradeRow = { questionNumber: number; round: Round; graderId: string; points: number | null; comment: string }
export type Standing =
  /** Somebody has yet to give points. */
  | { state: 'ungraded' }
  /** Two graders' points are too far apart. */
  | { state: 'undecided' }
  | { state: 'graded'; points: number; comment: string; graderId: string }

/**
 * What counts for a question: an admin's decision; else the mean of both graders' points, to the nearest half, where they are close; or
 * the only grader's.
 *
 * @param grades of the question, oldest first: of each round the last counts.
 */
export function standingOf(
  question: { points: number },
  grades: readonly GradeRow[],
  { secondGrader }: { secondGrader: boolean },
): Standing {
  const [first, second, decision] = ([1, 2, 3] as const).map((round) => lastOf(grades, round))
  if (decision) return graded(decision, decision.points, decision.comment)
  if (!secondGrader) return first ? graded(first, first.points, first.comment) : { state: 'ungraded' }
  if (!first || !second) return { state: 'ungraded' }
  if (Math.abs(first.points - second.points) > question.points * AGREEMENT) return { state: 'undecided' }
  const comment = [first.comment, second.comment].filter((text) => text !== '').join('\n\n')
  return graded(first, Math.round(first.points + second.points) / 2, comment)
}

/** The last grade of a round that gives points; of each grader only the newest stands, so that points can be taken back. */
function lastOf(grades: readonly GradeRow[], round: Round): (GradeRow & { points: number }) | undefined {
  const ofRound = grades.filter((grade) => grade.round === round)
  const newest = new Map(ofRound.map((grade) => [grade.graderId, grade]))
  return ofRound.findLast(
    (grade): grade is GradeRow & { points: number } => grade.points !== null && newest.get(grade.graderId) === grade,
  )
}

const graded = ({ graderId }: GradeRow, points: number, comment: string): Standing => ({
  state: 'graded',
  points,
  comment,
  graderId,
})

export type Counted<Q> = Q & { standing: Standing }

/** The same for all questions. Those without points need none. */
export function countGrades<Q extends { number: number; points: number }>(
  paper: readonly Q[],
  grades: readonly GradeRow[],
  terms: { secondGrader: boolean },
): Counted<Q>[] {
  const byQuestion = Map.groupBy(grades, ({ questionNumber }) => questionNumber)
  return paper.map((question) => ({ ...question, standing: standingOf(question, byQuestion.get(question.number) ?? [], terms) }))
}

/** Points in all, of how many, and the question that stands in the way of a result; null: none does. */
export function sumUp(questions: readonly Counted<{ number: number; points: number }>[]) {
  const counting = questions.filter(({ points }) => points > 0)
  const points = counting.reduce((sum, { standing }) => sum + (standing.state === 'graded' ? standing.points : 0), 0)
  const ofPoints = counting.reduce((sum, question) => sum + question.points, 0)
  return { points, ofPoints, missing: counting.find(({ standing }) => standing.state !== 'graded') ?? null }
}

/** Whether both graders have given points for every question that has any. */
export const haveBothGraded = (paper: readonly { number: number; points: number }[], grades: readonly GradeRow[]): boolean =>
  ([1, 2] as const).every((round) =>
    paper.every(
      ({ number, points }) =>
        points === 0 ||
        lastOf(
          grades.filter((grade) => grade.questionNumber === number),
          round,
        ),
    ),
  )
