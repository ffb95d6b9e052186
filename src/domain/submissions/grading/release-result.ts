import { scopeWhere } from '../../../db/queries.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { recordAudit } from '../../audit/record-audit.ts'
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
import {
  findPaper,
  lockSubmitted,
  requireVisibleRound,
  type SubmissionToGrade,
  throwSubmissionNotFound,
} from './graded-submission.ts'
import { findGrades, visibleGrades } from './grades.ts'
import { countGrades, exactPercentOf, type PointsSource, pointsIn, sumPoints } from './grading-status.ts'
import { createGradingIssue, refuseReleased, requireGraderId } from './save-grade.ts'

/**
 * @param comment for the organization. @param message for the candidate. @param toCandidate whether they see it, and the points.
 * @param seen what whoever releases it has been shown, see {@link pointsIn}; undefined: nobody was shown anything.
 * @param seenPoints the total that they were shown in a list; undefined: none.
 */
export type NewRelease = {
  submissionId: string
  comment: string
  message: string
  toCandidate: boolean
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
}

/**
 * Releases the result of a submission as it is graded now, as far as whoever releases it may see that: to the organization, its clients
 * and API, and to the candidate if so wished.
 *
 * @throws DomainError not_permitted; submission_not_found; invalid (rule `account`: released; ungraded or undecided, with the number of
 *   the question; otherPoints than were seen, with the total).
 */
export async function releaseResult(
  ctx: Context,
  { submissionId, comment, message, toCandidate, seen, seenPoints }: NewRelease,
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
    const grades = visibleGrades(
      requireVisibleRound(inside, submission),
      submission,
      paper,
      await findGrades(inside, submissionId),
    )
    const questions = countGrades(paper, grades, submission.assessment)
    const { points, ofPoints, missing } = sumPoints(questions)
    if (missing)
      throwIfIssues([createGradingIssue(missing.standing.state === 'undecided' ? 'undecided' : 'ungraded', missing.number)])
    const isAsSeen = (seen === undefined || seen === pointsIn(questions)) && (seenPoints === undefined || seenPoints === points)
    throwIfIssues(isAsSeen ? [] : [createGradingIssue('otherPoints', points)])
    const released = questions.map(({ number, points: most, standing }): ReleasedGrade => {
      if (standing.state !== 'graded') return { number, points: null, ofPoints: most, comment: '', graderId: null }
      return {
        number,
        points: most === 0 ? null : standing.points,
        ofPoints: most,
        comment: standing.comment,
        graderId: standing.graderId,
        ...(most > 0 && toReleasedSource(standing.by, keys.get(number))),
      }
    })
    const organizationId = organization.id
    const version = (await db.release.count({ where: { organizationId, submissionId } })) + 1
    const now = deps.clock()
    const own = { id: deps.newId(), organizationId, submissionId, version, releasedById: requireGraderId(inside), createdAt: now }
    await db.release.create({
      data: { ...own, points, ofPoints, comment, message, toCandidate, grades: released satisfies Prisma.InputJsonValue },
    })
    await db.submission.updateMany({
      where: { ...scopeWhere(inside), id: submissionId },
      data: { state: 'released', releasedAt: now, updatedAt: now },
    })
    const reportUrl = deps.links.resultUrl({ organization, mode: submission.invite.mode, submissionId })
    const payload = { percent: exactPercentOf(points, ofPoints), reportUrl }
    await recordEvents(inside, [resultReleased(submission.invite, submissionId, payload)])
    if (toCandidate) await queueNotice(inside, submission.inviteId, 'released', `${submissionId}:${version}`)
    const target = { kind: 'invite', id: submission.inviteId } as const
    await recordAudit(inside, { action: 'released_result', target, details: { version, toCandidate } })
  })
}

/**
 * Releases what has just been scored, where its assessment says so and nothing is left to people: in the name of the member who has turned that
 * on, while they are active. Where that fails it is logged, and waits to be released.
 *
 * @param ctx in the transaction that has scored it.
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

const toReleasedSource = (by: PointsSource, keyNumber: number | undefined): Pick<ReleasedGrade, 'by' | 'keyNumber'> =>
  by === 'key' && keyNumber !== undefined ? { by: 'key', keyNumber } : {}

/**
 * Lets grading go on. What was released stays what others see until another version is released.
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
    await recordAudit(inside, { action: 'reopened_result', target: { kind: 'invite', id: submission.inviteId } })
  })
}

/** True for everybody who may grade or release the submission, except the second grader: the first is responsible for the whole. */
export const mayRelease = (ctx: Context, submission: SubmissionToGrade): boolean => requireVisibleRound(ctx, submission) !== 2

function requireRelease(ctx: Context, submission: SubmissionToGrade): void {
  if (!mayRelease(ctx, submission)) throwSubmissionNotFound()
}
