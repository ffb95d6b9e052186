import { candidateName, isBlindTo } from '../../assessments/blind-grading.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { findDetail, type QuestionDetail, type SubmissionDetail } from '../reading/submission.ts'
import { findScores, type Gradable, type ShownScore } from '../scores.ts'
import { findGrades, type NewestGrade, visibleTo } from './grades.ts'
import { type Progress, progressOf } from './progress.ts'
import { mayRelease } from './release-result.ts'
import { findNewestResult, type Result } from './results.ts'
import { findHandedIn, findPaper, type Graded, type Round, requireView } from './rounds.ts'
import { graderOf } from './save-grade.ts'
import { type Counted, countGrades, isByPeople, sumUp } from './totals.ts'
import { findOtherViewers, noteViewer } from './viewers.ts'

/**
 * A question with what stands of what the grader has given for it, and of what others have.
 *
 * @property score what its key says, and that; undefined: it has none. @property isBeforeKey whether people have decided before the key was
 *   changed.
 */
export type GradedQuestion = Counted<QuestionDetail & Gradable> & {
  own: NewestGrade | undefined
  given: NewestGrade[]
  score: ShownScore | undefined
  isBeforeKey: boolean
}

/** All that a grader has before them. */
export type Sheet = {
  /** Name or pseudonym of the candidate. */
  candidate: string
  submission: Graded
  /** For blind grading without photos and captures. */
  detail: SubmissionDetail
  round: Round
  questions: GradedQuestion[]
  /** As far as the grader may see the grades. */
  total: ReturnType<typeof sumUp>
  progress: Progress
  mayRelease: boolean
  /** Newest released result, also while it is reopened; null: none. */
  released: Result | null
  /** The names of others who have the sheet open. */
  others: string[]
}

/** @param stills which page of the webcam's. @throws DomainError not_permitted; submission_not_found. */
export async function readSheet(ctx: Context, id: string, stills = 1): Promise<Sheet> {
  const submission = await findHandedIn(ctx, id)
  const round = requireView(ctx, submission)
  const whole = await findDetail(ctx, submission, stills)
  if (!whole) throw new DomainError('submission_not_found')
  const detail = isBlindTo(ctx, submission.assessment)
    ? { ...whole, media: [], stills: { ...whole.stills, items: [], total: 0 }, screen: null }
    : whole
  const [scored, all, released, others, scores] = await Promise.all([
    findPaper(ctx, id),
    findGrades(ctx, id),
    findNewestResult(ctx, id),
    findOtherViewers(ctx, id),
    findScores(ctx, id),
  ])
  const paper = detail.paper.map((question, i) => ({
    ...question,
    scored: scored[i]?.scored ?? null,
    dropped: scored[i]?.dropped ?? false,
    unanswered: scored[i]?.unanswered ?? false,
  }))
  const grades = visibleTo(round, submission, paper, all)
  const me = graderOf(ctx)
  const questions = countGrades(paper, grades, submission.assessment).map((question) => {
    const given = grades.filter(({ questionNumber }) => questionNumber === question.number)
    const score = scores.find(({ number }) => number === question.number)
    const last = given.at(-1)?.updatedAt
    const isBeforeKey =
      score !== undefined && score.keyNumber > 1 && last !== undefined && isByPeople(question.standing) && last < score.keyedAt
    return {
      ...question,
      given,
      score,
      isBeforeKey,
      own: given.findLast((grade) => grade.graderId === me && grade.round === round),
    }
  })
  const candidate = candidateName(ctx, submission)
  const total = sumUp(questions)
  const progress = progressOf(round, submission, paper, all)
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
    others,
  }
}

/**
 * As {@link readSheet}, and records that the grader has it open, which others see. @throws DomainError not_permitted;
 * submission_not_found.
 */
export async function stayAtSheet(ctx: Context, id: string): Promise<Sheet> {
  authorize(ctx, 'grade')
  const sheet = await readSheet(ctx, id)
  await noteViewer(ctx, id)
  return sheet
}
