import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import {
  type AssignedGraders,
  assignedSlotOf,
  effectiveGraderOf,
  type GradingRound,
  isSlotOpen,
  roundOf,
} from './graded-submission.ts'
import type { GradingProgress } from './progress.ts'
import { findFreeGraderSlot } from './reassign-grader.ts'
import { requireGraderId } from './save-grade.ts'

/** Next task of the member with a waiting submission; null: it waits for others. `take`: become its grader. */
export type Task = 'grade' | 'decide' | 'release' | 'take'

/**
 * @property isInbound true if the member has to do it, false if its assignees have to.
 * @property question number of the first question concerned.
 */
export type NextTask = { task: Task; isInbound: boolean; question?: number | undefined }

export function nextTask(ctx: Context, submission: AssignedGraders & { progress: GradingProgress | null }): NextTask | null {
  const { progress } = submission
  const isFree = isSlotOpen(submission, 'first')
  const take: NextTask | null = findFreeGraderSlot(ctx, submission) === null ? null : { task: 'take', isInbound: isFree }
  const round = roundOf(ctx, submission)
  if (progress === null) return take
  if (round === null) return isDone(progress) ? { task: 'release', isInbound: true } : null
  const me = requireGraderId(ctx)
  const isAssigned =
    [effectiveGraderOf(submission, 'first')?.id, effectiveGraderOf(submission, 'second')?.id].includes(me) ||
    assignedSlotOf(submission, me) !== null
  const [toGrade] = progress.ungraded
  if (toGrade !== undefined) return isAssigned ? { task: 'grade', isInbound: true, question: toGrade } : take
  const [toDecide] = progress.undecided
  if (toDecide !== undefined) return round === 3 ? { task: 'decide', isInbound: true, question: toDecide } : null
  return isForOthers(ctx, round, progress) ? null : { task: 'release', isInbound: isAssigned || may(ctx, 'read') }
}

/** True if others release the result. */
const isForOthers = (ctx: Context, round: GradingRound, { isOwnPart }: GradingProgress): boolean =>
  isOwnPart || round === 2 || (round === 3 && !may(ctx, 'release_results'))

const isDone = ({ ungraded, undecided }: GradingProgress): boolean => ungraded.length === 0 && undecided.length === 0
