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
import { isPreparing, isQuestionOpen, type SubmissionQuestion, type SubmissionSection } from './paper.ts'
import { readSections } from './position.ts'
import type { Submission } from './session.ts'

/** True until the submission: afterwards there is no time to extend. */
export const canGrantExtraTime = ({ status }: Pick<Invite, 'status'>): boolean =>
  status === 'pending' || status === 'accepted' || status === 'started'

/**
 * Grants a candidate extra time for each question, its preparation, each section, and the whole assessment. During the assessment, the ends
 * of the open questions, of the open section, and of the whole move together, never to an earlier time. The reason is not recorded, because it may be about health.
 *
 * @param percent of each limit, 0 to 300; during the assessment not less than before.
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
  'number' | 'sectionNumber' | 'openedAt' | 'answersAt' | 'closesAt' | 'closedAt' | 'timeLimit' | 'preparationTime'
>

async function moveEnds(ctx: Context, submissionId: string, percent: number): Promise<void> {
  const { db, deps, organization } = ctx
  const runningSubmission = ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', submissionId)
    .where('submissions.state', '=', 'in_progress')
  const columns = ['submissions.startedAt', 'submissions.deadlineAt', 'submissions.extraTimePercent'] as const
  const lockedSubmission = await runningSubmission
    .select([...columns, 'submissions.isDeadlineOfQuestion'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!lockedSubmission) return
  const key = { organizationId: organization.id, submissionId }
  const times = { openedAt: true, answersAt: true, closesAt: true, closedAt: true, timeLimit: true, preparationTime: true }
  const openQuestions = await db.submissionQuestion.findMany({
    where: key,
    select: { number: true, sectionNumber: true, ...times },
    orderBy: { number: 'asc' },
  })
  const now = deps.clock()
  const paper = openQuestions.map((question) =>
    isPreparing(question, now) ? prepareLonger(question, lockedSubmission, percent) : question,
  )
  const sections = await readSections(db, key, paper)
  const sectionOf = (question: Timed | undefined) => sections.find((section) => section.number === question?.sectionNumber)
  const last = { question: paper.at(-1), section: sectionOf(paper.at(-1)) }
  const deadlineAt = later(lockedSubmission.deadlineAt, endOfWhole(lockedSubmission, last, percent))
  for (const section of sections.filter(({ openedAt, closesAt }) => openedAt && closesAt && closesAt > now)) {
    const closesAt = later(section.closesAt, earlier(sectionEndOf(section, percent), deadlineAt))
    await db.submissionSection.updateMany({ where: { ...key, number: section.number }, data: { closesAt } })
  }
  for (const question of paper.filter((question) => isQuestionOpen(question, now))) {
    const sectionEnd = sectionEndOf(sectionOf(question), percent)
    const closesAt = later(question.closesAt, earlier(earlier(questionEndOf(question, percent), sectionEnd), deadlineAt))
    const where = { ...key, number: question.number, closedAt: null }
    await db.submissionQuestion.updateMany({ where, data: { answersAt: question.answersAt, closesAt } })
  }
  const where = { ...scopeWhere(ctx), id: submissionId }
  await db.submission.updateMany({ where, data: { extraTimePercent: percent, deadlineAt, updatedAt: now } })
}

/** By its own limit; null: it has none, or was not opened. */
const sectionEndOf = (section: SubmissionSection | undefined, percent: number): Date | null =>
  section?.openedAt && section.timeLimit > 0
    ? new Date(section.openedAt.getTime() + withExtraTime(section.timeLimit, percent) * 1_000)
    : null

/** As sectionEndOf. */
function questionEndOf({ openedAt, answersAt, timeLimit }: Timed, percent: number): Date | null {
  const answeringSince = answersAt ?? openedAt
  return answeringSince && timeLimit > 0 ? new Date(answeringSince.getTime() + withExtraTime(timeLimit, percent) * 1_000) : null
}

/** Extends the preparation time of a question, up to the end of the whole. */
function prepareLonger(question: Timed, submission: TimedSubmission, percent: number): Timed {
  const { openedAt, answersAt, preparationTime } = question
  const end = new Date(openedAt!.getTime() + withExtraTime(preparationTime, percent) * 1_000)
  const whole = submission.isDeadlineOfQuestion ? null : endOfWhole(submission, {}, percent)
  return { ...question, answersAt: later(answersAt, earlier(end, whole)) }
}

type TimedSubmission = Pick<Submission, 'startedAt' | 'deadlineAt' | 'isDeadlineOfQuestion' | 'extraTimePercent'>

/**
 * Without an overall limit the end is that of the last question or section, see openQuestion and openSection; before they are opened, days after
 * an earlier section, which stay. Otherwise the limit is computed from start and end, because the assessment's may have changed since.
 */
function endOfWhole(
  { startedAt, deadlineAt, isDeadlineOfQuestion, extraTimePercent }: TimedSubmission,
  last: { question?: Timed | undefined; section?: SubmissionSection | undefined },
  percent: number,
): Date | null {
  if (!deadlineAt || !startedAt) return deadlineAt
  if (isDeadlineOfQuestion && last.question)
    return earlier(questionEndOf(last.question, percent), sectionEndOf(last.section, percent)) ?? deadlineAt
  const limit = (deadlineAt.getTime() - startedAt.getTime()) / (100 + extraTimePercent)
  return new Date(startedAt.getTime() + Math.ceil(limit * (100 + percent)))
}

const later = (one: Date | null, other: Date | null): Date | null => (one && other ? (one > other ? one : other) : null)
const earlier = (one: Date | null, other: Date | null): Date | null =>
  one && other ? (one < other ? one : other) : (one ?? other)
