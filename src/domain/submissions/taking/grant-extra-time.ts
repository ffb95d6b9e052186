import { scopeWhere } from '../../../db/queries.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import type { Context } from '../../context.ts'
import { changeInvite } from '../../invites/change-invite.ts'
import { getInvite, type Invite } from '../../invites/invites.ts'
import { createMoveError } from '../../invites/move-invite.ts'
import { EXTRA_TIME_PERCENT } from '../../limits.ts'
import { withExtraTime } from '../../time/extra-time.ts'
import { checkInteger, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { findPosition, isPreparing, type SubmissionQuestion } from './paper.ts'
import type { Submission } from './session.ts'

/** True until the submission: afterwards there is no time to extend. */
export const canGrantExtraTime = ({ status }: Pick<Invite, 'status'>): boolean =>
  status === 'pending' || status === 'accepted' || status === 'started'

/**
 * Gives a candidate that much more time for each question, its preparation, and the whole. While the assessment is being taken, the ends of the open
 * question and of the whole move together, and never to an earlier time. Why is not recorded: it may be about health.
 *
 * @param percent of each limit, 0 to 300; while it is being taken not less than there is.
 * @throws DomainError not_permitted, invite_not_found; move_not_allowed once it is over; invalid.
 */
export async function grantExtraTime(ctx: Context, inviteId: string, percent: number): Promise<void> {
  await changeInvite(ctx, inviteId, async (inside, where) => {
    throwIfIssues(findIssues([['extraTimePercent', checkInteger(percent, EXTRA_TIME_PERCENT)]]))
    const invite = await getInvite(inside, inviteId)
    if (invite.extraTimePercent === percent) return
    if (!canGrantExtraTime(invite)) throw createMoveError('accommodate', invite.status)
    if (invite.status === 'started') {
      const limit = { ...EXTRA_TIME_PERCENT, minimum: invite.extraTimePercent }
      throwIfIssues(findIssues([['extraTimePercent', checkInteger(percent, limit)]]))
      if (invite.assessmentSession) await moveEnds(inside, invite.assessmentSession, percent)
    }
    await inside.db.invite.updateMany({ where, data: { extraTimePercent: percent, updatedAt: inside.deps.clock() } })
    await recordAudit(inside, { action: 'changed_extra_time', target: { kind: 'invite', id: inviteId }, details: { percent } })
  })
}

type Timed = Pick<
  SubmissionQuestion,
  'number' | 'openedAt' | 'answersAt' | 'closesAt' | 'closedAt' | 'timeLimit' | 'preparationTime'
>

async function moveEnds(ctx: Context, submissionId: string, percent: number): Promise<void> {
  const { db, deps, organization } = ctx
  const taken = ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', submissionId)
    .where('submissions.state', '=', 'in_progress')
  const columns = ['submissions.startedAt', 'submissions.deadlineAt', 'submissions.extraTimePercent'] as const
  const lockedSubmission = await taken
    .select([...columns, 'submissions.isDeadlineOfQuestion'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!lockedSubmission) return
  const of = { organizationId: organization.id, submissionId }
  const times = { openedAt: true, answersAt: true, closesAt: true, closedAt: true, timeLimit: true, preparationTime: true }
  const asked = await db.submissionQuestion.findMany({
    where: of,
    select: { number: true, ...times },
    orderBy: { number: 'asc' },
  })
  const now = deps.clock()
  const paper = asked.map((question) =>
    isPreparing(question, now) ? prepareLonger(question, lockedSubmission, percent) : question,
  )
  const deadlineAt = later(lockedSubmission.deadlineAt, endOfWhole(lockedSubmission, paper.at(-1), percent))
  const { open } = findPosition(paper, now)
  if (open) {
    const closesAt = later(open.closesAt, earlier(questionEndOf(open, percent), deadlineAt))
    const where = { ...of, number: open.number, closedAt: null }
    await db.submissionQuestion.updateMany({ where, data: { answersAt: open.answersAt, closesAt } })
  }
  const where = { ...scopeWhere(ctx), id: submissionId }
  await db.submission.updateMany({ where, data: { extraTimePercent: percent, deadlineAt, updatedAt: now } })
}

/** By its own limit; null: it has none, or was not opened. */
function questionEndOf({ openedAt, answersAt, timeLimit }: Timed, percent: number): Date | null {
  const begun = answersAt ?? openedAt
  return begun && timeLimit > 0 ? new Date(begun.getTime() + withExtraTime(timeLimit, percent) * 1_000) : null
}

/** The question with the later end of its preparation time, which never goes beyond that of the whole. */
function prepareLonger(question: Timed, submission: TimedSubmission, percent: number): Timed {
  const { openedAt, answersAt, preparationTime } = question
  const end = new Date(openedAt!.getTime() + withExtraTime(preparationTime, percent) * 1_000)
  const whole = submission.isDeadlineOfQuestion ? null : endOfWhole(submission, undefined, percent)
  return { ...question, answersAt: later(answersAt, earlier(end, whole)) }
}

type TimedSubmission = Pick<Submission, 'startedAt' | 'deadlineAt' | 'isDeadlineOfQuestion' | 'extraTimePercent'>

/**
 * Without a limit for the whole it is the end of the last question, see openQuestion. Else its limit is what is between start and end: that of
 * the assessment may have been changed since.
 */
function endOfWhole(
  { startedAt, deadlineAt, isDeadlineOfQuestion, extraTimePercent }: TimedSubmission,
  last: Timed | undefined,
  percent: number,
): Date | null {
  if (!deadlineAt || !startedAt) return deadlineAt
  if (isDeadlineOfQuestion && last) return questionEndOf(last, percent)
  const limit = (deadlineAt.getTime() - startedAt.getTime()) / (100 + extraTimePercent)
  return new Date(startedAt.getTime() + Math.ceil(limit * (100 + percent)))
}

const later = (one: Date | null, other: Date | null): Date | null => (one && other ? (one > other ? one : other) : null)
const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other)
