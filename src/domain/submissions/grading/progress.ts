import type { Context } from '../../context.ts'
import type { GradableQuestion } from '../scores.ts'
import { type AssignedGraders, type GradingRound, otherGraderOf } from './graded-submission.ts'
import { canSeeAllGrades, visibleGrades } from './grades.ts'
import { countGrades, type GradeRow, sumPoints } from './grading-status.ts'

/** Grading progress of a submission, as far as a grader may know it. */
export type GradingProgress = {
  /**
   * True while the figures are about this grader's part only: one of two graders can't see the other's grades, or answers that are assigned
   * to others are not graded.
   */
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
  ctx: Context,
  round: GradingRound,
  submission: AssignedGraders,
  paper: readonly GradableQuestion[],
  grades: readonly GradeRow[],
): GradingProgress {
  const isOwnRound = !canSeeAllGrades(round, submission, paper, grades)
  const terms = isOwnRound ? { secondGrader: false } : submission.assessment
  const questions = countGrades(paper, visibleGrades(round, submission, paper, grades), terms).filter(({ points }) => points > 0)
  const questionsOfOthers = questions.filter(({ number }) => otherGraderOf(ctx, submission, round, number))
  const isOwnPart = isOwnRound || questionsOfOthers.some(({ status }) => status.state === 'ungraded')
  const counted = isOwnPart ? questions.filter((question) => !questionsOfOthers.includes(question)) : questions
  const numbersOf = (state: string) => counted.filter(({ status }) => status.state === state).map(({ number }) => number)
  const { points, ofPoints } = sumPoints(counted)
  const [ungraded, undecided] = [numbersOf('ungraded'), numbersOf('undecided')]
  return { isOwnPart, questions: counted.length, points, ofPoints, ungraded, undecided }
}
