import { candidateName, isBlindTo } from '../../assessments/blind-grading.ts'
import type { Rubric } from '../../assessments/rubric.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { displayNameOf } from '../../text/display-name.ts'
import { findDetail, type QuestionDetail, type SubmissionDetail } from '../reading/submission.ts'
import { findScores, type GradableQuestion, type ShownScore } from '../scores.ts'
import {
  findPaper,
  findSubmitted,
  type GradingRound,
  otherGraderOf,
  requireVisibleRound,
  type SubmissionToGrade,
} from './graded-submission.ts'
import { canSeeAllGrades, findGrades, type NewestGrade, visibleGrades } from './grades.ts'
import { countGrades, isByPeople, sumPoints, type WithGradingStatus } from './grading-status.ts'
import { findNotes, type GradingNote } from './notes.ts'
import { type GradingProgress, gradingProgressOf } from './progress.ts'
import { mayRelease } from './release-result.ts'
import { findNewestResult, type Result } from './results.ts'
import { findRubrics } from './rubrics.ts'
import { requireGraderId } from './save-grade.ts'
import { findOtherViewers, recordViewer } from './viewers.ts'

/**
 * Question with the grader's and others' grades.
 *
 * @property score score by the key; undefined: no key. @property criteria of its rubric; empty without one.
 * @property isBeforeKey true if it was graded before the key was corrected.
 */
export type GradedQuestion = WithGradingStatus<QuestionDetail & GradableQuestion> & {
  /** Name of the member to whom the answer is assigned, if this grader may not grade it. */
  assignedTo: string | null
  ownGrade: NewestGrade | undefined
  grades: NewestGrade[]
  /** Notes on its recorded answers by time, as far as this grader may see them. */
  notes: GradingNote[]
  score: ShownScore | undefined
  criteria: Rubric
  isBeforeKey: boolean
}

/** Data of the page on which a submission is graded. */
export type SubmissionGradingView = {
  /** Name or pseudonym of the candidate. */
  candidate: string
  submission: SubmissionToGrade
  /** For blind grading without photos and captures. */
  detail: SubmissionDetail
  round: GradingRound
  questions: GradedQuestion[]
  /** As far as the grader may see the grades. */
  total: ReturnType<typeof sumPoints>
  progress: GradingProgress
  mayRelease: boolean
  /** Newest released result, also while it is reopened; null: none. */
  released: Result | null
  /** The names of others who have the sheet open. */
  others: string[]
}

/** @param stills which page of the webcam's. @throws DomainError not_permitted; submission_not_found. */
export async function readGradingView(ctx: Context, id: string, stills = 1): Promise<SubmissionGradingView> {
  const submission = await findSubmitted(ctx, id)
  const round = requireVisibleRound(ctx, submission)
  const whole = await findDetail(ctx, submission, stills)
  if (!whole) throw new DomainError('submission_not_found')
  const detail = isBlindTo(ctx, submission.assessment)
    ? { ...whole, media: [], stills: { ...whole.stills, items: [], total: 0 }, screen: null }
    : whole
  const [scored, allGrades, released, otherViewers, scores, allNotes, rubrics] = await Promise.all([
    findPaper(ctx, id),
    findGrades(ctx, id),
    findNewestResult(ctx, id),
    findOtherViewers(ctx, id),
    findScores(ctx, id),
    findNotes(ctx, id),
    findRubrics(ctx, id),
  ])
  const paper = detail.paper.map((question, i) => ({
    ...question,
    scored: scored[i]?.scored ?? null,
    dropped: scored[i]?.dropped ?? false,
    unanswered: scored[i]?.unanswered ?? false,
  }))
  const grades = visibleGrades(round, submission, paper, allGrades)
  const seesAll = canSeeAllGrades(round, submission, paper, allGrades)
  const notes = allNotes.filter((note) => seesAll || note.round === round)
  const me = requireGraderId(ctx)
  const questions = countGrades(paper, grades, submission.assessment).map((question) => {
    const gradesOfQuestion = grades.filter(({ questionNumber }) => questionNumber === question.number)
    const score = scores.find(({ number }) => number === question.number)
    const last = gradesOfQuestion.at(-1)?.updatedAt
    const otherGrader = otherGraderOf(ctx, submission, round, question.number)
    const isBeforeKey =
      score !== undefined && score.keyNumber > 1 && last !== undefined && isByPeople(question.status) && last < score.keyedAt
    return {
      ...question,
      grades: gradesOfQuestion,
      notes: notes.filter(({ questionNumber }) => questionNumber === question.number),
      score,
      criteria: rubrics.get(question.number) ?? [],
      isBeforeKey,
      assignedTo: otherGrader && displayNameOf(otherGrader.user),
      ownGrade: gradesOfQuestion.findLast((grade) => grade.graderId === me && grade.round === round),
    }
  })
  const candidate = candidateName(ctx, submission)
  const total = sumPoints(questions)
  const progress = gradingProgressOf(ctx, round, submission, paper, allGrades)
  return {
    candidate,
    submission,
    detail,
    round,
    questions,
    total,
    progress,
    mayRelease: mayRelease(ctx, submission),
    released,
    others: otherViewers,
  }
}

/**
 * As {@link readGradingView}, and records that the grader has it open, which others see. @throws DomainError not_permitted;
 * submission_not_found.
 */
export async function readAndRecordGradingView(ctx: Context, id: string): Promise<SubmissionGradingView> {
  authorize(ctx, 'grade')
  const sheet = await readGradingView(ctx, id)
  await recordViewer(ctx, id)
  return sheet
}
