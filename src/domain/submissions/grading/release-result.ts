import { scopeWhere } from '../../../db/queries.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { may } from '../../authorization/permissions.ts'
import { type Context, inMode } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { resultReleased } from '../../events/event.ts'
import { recordEvents } from '../../events/record-events.ts'
import { queueNotice } from '../../invites/queue-notice.ts'
import { MAX_COMMENT_LENGTH } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { findKeyNumbers } from '../scores.ts'
import { setAssignmentsOpen } from './assignments.ts'
import {
  findPaper,
  lockSubmitted,
  requireVisibleRound,
  type SubmissionToGrade,
  throwSubmissionNotFound,
} from './graded-submission.ts'
import { findGrades, visibleGrades } from './grades.ts'
import { countGrades, exactPercentOf, type PointsSource, pointsIn, sumPoints } from './grading-status.ts'
import { judgeResults } from './judge-result.ts'
import { findNotes, type ReleasedNote, toReleasedNote } from './notes.ts'
import { findRubrics, type ReleasedCriterion, releaseCriteria } from './rubrics.ts'
import { createGradingIssue, refuseReleased, requireGraderId } from './save-grade.ts'

/**
 * @param comment for the organization. @param message for the candidate. @param toCandidate true to show the candidate the result with
 *   points.
 * @param seen what the actor has seen, see {@link pointsIn}; undefined: not checked.
 * @param seenPoints total that a list showed the actor; undefined: not checked.
 */
export type NewRelease = {
  submissionId: string
  comment: string
  message: string
  toCandidate: boolean
  /** True to release the graders' notes on recorded answers to the organization, too. */
  withNotes?: boolean | undefined
  seen?: string | undefined
  seenPoints?: number | undefined
}

/** Released grade of a question. @property by omitted if a person gave the points. */
export type ReleasedGrade = {
  number: number
  points: number | null
  ofPoints: number
  comment: string
  graderId: string | null
  by?: 'key'
  /** Number of the key that gave the points. */
  keyNumber?: number
  /** Omitted if there are none, or if they are not released. */
  notes?: ReleasedNote[]
  /** Source of the points; omitted with one grader. */
  decidedBy?: 'two_graders' | 'admin' | 'third_grader'
  /** Omitted without a rubric. */
  rubric?: ReleasedCriterion[]
}

/**
 * Releases the result as graded now to the organization, its clients, and the API, and to the candidate if requested.
 *
 * @throws DomainError not_permitted; submission_not_found; invalid (rule `account`: released; ungraded or undecided with the number of the
 *   question; otherPoints with the present total).
 */
export async function releaseResult(
  ctx: Context,
  { submissionId, comment, message, toCandidate, withNotes, seen: pointsAsSeen, seenPoints }: NewRelease,
): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const submission = await lockSubmitted(inside, submissionId)
    requireRelease(inside, submission)
    refuseReleased(submission)
    throwIfIssues(
      findIssues([
        ['comment', checkText(comment, MAX_COMMENT_LENGTH)],
        ['message', checkText(message, MAX_COMMENT_LENGTH)],
      ]),
    )
    const paper = await findPaper(inside, submissionId)
    const keys = await findKeyNumbers(inside, submissionId)
    const rubrics = await findRubrics(inside, submissionId)
    const grades = visibleGrades(
      requireVisibleRound(inside, submission),
      submission,
      paper,
      await findGrades(inside, submissionId),
    )
    const questions = countGrades(paper, grades, submission.assessment)
    const { points, ofPoints, missing } = sumPoints(questions)
    if (missing)
      throwIfIssues([createGradingIssue(missing.status.state === 'undecided' ? 'undecided' : 'ungraded', missing.number)])
    const isAsSeen =
      (pointsAsSeen === undefined || pointsAsSeen === pointsIn(questions)) && (seenPoints === undefined || seenPoints === points)
    throwIfIssues(isAsSeen ? [] : [createGradingIssue('otherPoints', points)])
    const allNotes = withNotes ? await findNotes(inside, submissionId) : []
    const released = questions.map(({ number, points: most, status }): ReleasedGrade => {
      const ofQuestion = allNotes.filter(({ questionNumber }) => questionNumber === number).map(toReleasedNote)
      const notes = ofQuestion.length > 0 ? { notes: ofQuestion } : {}
      if (status.state !== 'graded') return { number, points: null, ofPoints: most, comment: '', graderId: null, ...notes }
      return {
        number,
        points: most === 0 ? null : status.points,
        ofPoints: most,
        comment: status.comment,
        graderId: status.graderId,
        ...(most > 0 && toReleasedSource(status.by, keys.get(number))),
        ...notes,
        ...(status.levels.length > 0 && { rubric: releaseCriteria(rubrics.get(number) ?? [], status.levels) }),
      }
    })
    const organizationId = organization.id
    const version = (await db.release.count({ where: { organizationId, submissionId } })) + 1
    const now = deps.clock()
    const columns = {
      id: deps.newId(),
      organizationId,
      submissionId,
      version,
      releasedById: requireGraderId(inside),
      createdAt: now,
    }
    const judged = await judgeResults(inside, [{ submissionId, points, ofPoints, grades: released }])
    const verdict = judged.get(submissionId)
    await db.release.create({
      data: {
        ...columns,
        points,
        ofPoints,
        comment,
        message,
        toCandidate,
        ...verdict,
        grades: released satisfies Prisma.InputJsonValue,
      },
    })
    await db.submission.updateMany({
      where: { ...scopeWhere(inside), id: submissionId },
      data: { state: 'released', releasedAt: now, updatedAt: now },
    })
    await setAssignmentsOpen(inside, submissionId, false)
    const reportUrl = deps.links.resultUrl({ organization, mode: submission.invite.mode, submissionId })
    const payload = { percent: exactPercentOf(points, ofPoints), reportUrl }
    await recordEvents(inside, [resultReleased(submission.invite, submissionId, payload)])
    if (toCandidate) await queueNotice(inside, submission.inviteId, 'released', `${submissionId}:${version}`)
    const target = { kind: 'invite', id: submission.inviteId } as const
    await recordAudit(inside, { action: 'released_result', target, details: { version, toCandidate } })
  })
}

/**
 * Releases a scored result automatically if the assessment is set to and no question needs a grader, in the name of the member who turned
 * this on, while active. A failure is logged, and the result waits in the queue.
 *
 * @param ctx in the transaction that scored it.
 */
export async function releaseAutomatically(ctx: Context, submissionId: string): Promise<void> {
  const { db } = ctx
  const where = { ...scopeWhere(ctx), id: submissionId, state: 'submitted', needsGrading: false } as const
  const found = await db.submission.findFirst({
    where,
    select: {
      invite: { select: { mode: true } },
      assessment: {
        select: {
          autoReleaseToCandidate: true,
          autoReleaseBy: { select: { id: true, userId: true, roles: true, portalRoles: true, status: true } },
        },
      },
    },
  })
  const { autoReleaseBy: member, autoReleaseToCandidate: toCandidate } = found?.assessment ?? {}
  if (!found || member?.status !== 'active') return
  const { id, userId, roles, portalRoles } = member
  const actor = { kind: 'member', id, userId, roles, portalRoles } as const
  const releaser: Context = { ...inMode(ctx, found.invite.mode), actor }
  const release = { comment: '', message: '', toCandidate: toCandidate === true }
  const work = (inside: Context) => releaseResult(inside, { submissionId, ...release })
  await inTransaction(releaser, work).catch((err: unknown) => {
    if (!(err instanceof DomainError)) throw err
    ctx.deps.log.warn({ err, submissionId }, 'a result could not be released automatically: it waits for a person')
  })
}

function toReleasedSource(
  source: PointsSource,
  keyNumber: number | undefined,
): Pick<ReleasedGrade, 'by' | 'keyNumber' | 'decidedBy'> {
  if (source === 'key') return keyNumber === undefined ? {} : { by: source, keyNumber }
  if (source === 'both') return { decidedBy: 'two_graders' }
  return source === 'admin' || source === 'third_grader' ? { decidedBy: source } : {}
}

/**
 * Reopens grading. The released version stays visible until another one is released.
 *
 * @throws DomainError not_permitted; submission_not_found; invalid (rule `account`: notReleased).
 */
export async function reopenResult(ctx: Context, submissionId: string): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const submission = await lockSubmitted(inside, submissionId)
    requireRelease(inside, submission)
    throwIfIssues(submission.state === 'released' ? [] : [createGradingIssue('notReleased')])
    const where = { ...scopeWhere(inside), id: submissionId }
    await inside.db.submission.updateMany({ where, data: { state: 'submitted', updatedAt: inside.deps.clock() } })
    await setAssignmentsOpen(inside, submissionId, true)
    await recordAudit(inside, { action: 'reopened_result', target: { kind: 'invite', id: submission.inviteId } })
  })
}

/** True for everybody who may grade or release the submission, except the second and third grader: the first is responsible for the whole. */
export function mayRelease(ctx: Context, submission: SubmissionToGrade): boolean {
  const round = requireVisibleRound(ctx, submission)
  return round === 1 || (round === 3 && may(ctx, 'release_results'))
}

function requireRelease(ctx: Context, submission: SubmissionToGrade): void {
  if (!mayRelease(ctx, submission)) throwSubmissionNotFound()
}
