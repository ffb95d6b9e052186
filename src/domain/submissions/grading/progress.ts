import type { GradableQuestion } from '../scores.ts'
import type { GradingRound, SubmissionToGrade } from './graded-submission.ts'
import { canSeeAllGrades, visibleGrades } from './grades.ts'
import { countGrades, type GradeRow, sumPoints } from './grading-status.ts'

/** Grading progress of a submission, as far as a grader may know it. */
export type GradingProgress = {
  /** True while one of two graders can't see the other's grades: the figures are about their part only. */
  isOwnPart: boolean
  /** Number of questions that give points. */
  questions: number
  points: number
  ofPoints: number
  /** The numbers of the questions that are in the way of a result or, of the own part, of its end. */
  ungraded: number[]
  undecided: number[]
}

export function gradingProgressOf(
  round: GradingRound,
  submission: { assessment: Pick<SubmissionToGrade['assessment'], 'secondGrader'> },
  paper: readonly GradableQuestion[],
  grades: readonly GradeRow[],
): GradingProgress {
  const isOwnPart = !canSeeAllGrades(round, submission, paper, grades)
  const terms = isOwnPart ? { secondGrader: false } : submission.assessment
  const counted = countGrades(paper, visibleGrades(round, submission, paper, grades), terms).filter(({ points }) => points > 0)
  const numbersOf = (state: string) => counted.filter(({ standing }) => standing.state === state).map(({ number }) => number)
  const { points, ofPoints } = sumPoints(counted)
  const [ungraded, undecided] = [numbersOf('ungraded'), numbersOf('undecided')]
  return { isOwnPart, questions: counted.length, points, ofPoints, ungraded, undecided }
}
