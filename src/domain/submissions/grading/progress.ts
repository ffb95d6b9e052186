import type { Gradable } from '../scores.ts'
import { seesAll, visibleTo } from './grades.ts'
import type { Graded, Round } from './rounds.ts'
import { countGrades, type GradeRow, sumUp } from './totals.ts'

/** How far the grading of a submission is, as far as a grader may know. */
export type Progress = {
  /** True while one of two graders can't see the other's grades: the figures are about their part only. */
  isOwnPart: boolean
  /** How many questions give points. */
  questions: number
  points: number
  ofPoints: number
  /** The numbers of the questions that are in the way of a result or, of the own part, of its end. */
  ungraded: number[]
  undecided: number[]
}

export function progressOf(
  round: Round,
  submission: { assessment: Pick<Graded['assessment'], 'secondGrader'> },
  paper: readonly Gradable[],
  grades: readonly GradeRow[],
): Progress {
  const isOwnPart = !seesAll(round, submission, paper, grades)
  const terms = isOwnPart ? { secondGrader: false } : submission.assessment
  const counted = countGrades(paper, visibleTo(round, submission, paper, grades), terms).filter(({ points }) => points > 0)
  const numbersOf = (state: string) => counted.filter(({ standing }) => standing.state === state).map(({ number }) => number)
  const { points, ofPoints } = sumUp(counted)
  const [ungraded, undecided] = [numbersOf('ungraded'), numbersOf('undecided')]
  return { isOwnPart, questions: counted.length, points, ofPoints, ungraded, undecided }
}
