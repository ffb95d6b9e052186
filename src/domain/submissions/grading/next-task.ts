import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { type AssignedGraders, effectiveGraderOf, roundOf } from './graded-submission.ts'
import type { GradingProgress } from './progress.ts'
import { findFreeGraderSlot } from './reassign-grader.ts'
import { requireGraderId } from './save-grade.ts'

/** Next task of the member with a waiting submission; null: it waits for others. `take`: become its grader. */
export type Task = 'grade' | 'decide' | 'release' | 'take'

/** @property isInbound whether it is for them to do, rather than for those it is assigned to. @property question the first that it is about. */
export type NextTask = { task: Task; isInbound: boolean; question?: number | undefined }

export function nextTask(ctx: Context, submission: AssignedGraders & { progress: GradingProgress | null }): NextTask | null {
  const { progress } = submission
  const isFree = effectiveGraderOf(submission, 'first') === null
  const take: NextTask | null = findFreeGraderSlot(ctx, submission) === null ? null : { task: 'take', isInbound: isFree }
  const round = roundOf(ctx, submission)
  if (progress === null) return take
  if (round === null) return isDone(progress) ? { task: 'release', isInbound: true } : null
  const me = requireGraderId(ctx)
  const isAssigned = [effectiveGraderOf(submission, 'first')?.id, effectiveGraderOf(submission, 'second')?.id].includes(me)
  const [toGrade] = progress.ungraded
  if (toGrade !== undefined) return isAssigned ? { task: 'grade', isInbound: true, question: toGrade } : take
  const [toDecide] = progress.undecided
  if (toDecide !== undefined) return round === 3 ? { task: 'decide', isInbound: true, question: toDecide } : null
  if (progress.isOwnPart || round === 2) return null
  return { task: 'release', isInbound: isAssigned || may(ctx, 'read') }
}

const isDone = ({ ungraded, undecided }: GradingProgress): boolean => ungraded.length === 0 && undecided.length === 0
