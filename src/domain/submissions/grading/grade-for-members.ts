import { recordAudit } from '../../audit/record-audit.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError, type Issue } from '../../errors.ts'
import { mayGrade } from '../../members/graders.ts'
import { findMembers } from '../../members/members.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { whereInviteSubmission } from '../reading/list-submissions.ts'
import type { GradableQuestion } from '../scores.ts'
import {
  effectiveGraderOf,
  findPaper,
  findSubmitted,
  lockSubmitted,
  roundOf,
  type SubmissionToGrade,
} from './graded-submission.ts'
import { findGrades, type NewestGrade } from './grades.ts'
import { countGrades, sumPoints, type WithGradingStatus } from './grading-status.ts'
import { reassignGrader } from './reassign-grader.ts'
import { releaseResult, reopenResult } from './release-result.ts'
import { createGradingIssue, type QuestionGrade, saveGrades } from './save-grade.ts'

// Grading by API keys, in the name of a member who may grade: it calls the portal's functions for that member.

/** Progress of grading an invite's submission, with all current grades. */
export type InviteGrading = {
  submission: SubmissionToGrade
  questions: (WithGradingStatus<GradableQuestion> & { grades: NewestGrade[] })[]
  total: ReturnType<typeof sumPoints>
  /** Up to when its grades are shown. */
  seen: Date
}

/** @throws DomainError not_permitted, invite_not_found; submission_not_found, also before it is submitted. */
export async function readGrading(ctx: Context, inviteId: string): Promise<InviteGrading> {
  authorize(ctx, 'grade_for_members')
  const submission = await findSubmitted(ctx, await findId(ctx, inviteId))
  const [paper, grades] = await Promise.all([findPaper(ctx, submission.id), findGrades(ctx, submission.id)])
  const counted = countGrades(paper, grades, submission.assessment)
  const questions = counted.map((question) => ({
    ...question,
    grades: grades.filter(({ questionNumber }) => questionNumber === question.number),
  }))
  const seenAt = new Date(Math.max(0, ...grades.map(({ updatedAt }) => updatedAt.getTime())))
  return { submission, questions, total: sumPoints(counted), seen: seenAt }
}

/** @property secondGraderId for assessments with two graders. null: nobody. Undefined: unchanged. */
export type GraderAssignment = { assignedGraderId?: string | null; secondGraderId?: string | null }

/** Assigns who grades it. @throws DomainError as readGrading and reassignGrader. */
export async function assignGraders(ctx: Context, inviteId: string, graders: GraderAssignment): Promise<void> {
  authorize(ctx, 'grade_for_members')
  await inTransaction(ctx, async (inside) => {
    const { id, assessment, secondGraderId } = await lockSubmitted(inside, await findId(inside, inviteId))
    const { assignedGraderId: first, secondGraderId: second } = graders
    const text = 'secondGraderId is for assessments that are graded twice'
    throwIfIssues(second !== undefined && !assessment.secondGrader ? [{ field: 'secondGraderId', rule: 'malformed', text }] : [])
    // A grader who changes slots leaves the first before taking the second.
    const changesPlaces = first && second !== undefined && first.toLowerCase() === secondGraderId
    if (changesPlaces) await reassignGrader(inside, id, { place: 'second', graderId: null })
    if (first !== undefined) await reassignGrader(inside, id, { place: 'first', graderId: first })
    if (second !== undefined) await reassignGrader(inside, id, { place: 'second', graderId: second })
  })
}

/** @property graderId member to act for; undefined: the assigned grader. */
type OnBehalfOf = { graderId?: string | undefined }
/** @property seen time of the grades that the caller has read; undefined: accepts any. */
export type GradesForMember = OnBehalfOf & {
  grades: readonly QuestionGrade[]
  seen?: Date | undefined
}

/**
 * Saves a member's grades, all or none.
 *
 * @throws DomainError as readGrading and saveGrades; invalid: no grades, a grade of a missing question, or two grades of one question; a
 *   grader who may not grade it; or (rule `account`: regraded, with the number of the question) a question that the grader has graded
 *   since.
 */
export async function gradeForMember(ctx: Context, inviteId: string, input: GradesForMember): Promise<void> {
  await actOnBehalfOf(ctx, inviteId, input, async (inside, { id }, grader) => {
    throwIfIssues(findWrongNumbers(input.grades, await findPaper(inside, id)))
    const regraded = await saveGrades(grader, { submissionId: id, grades: input.grades, seen: input.seen })
    throwIfIssues(regraded === null ? [] : [createGradingIssue('regraded', regraded)])
    const questions = input.grades.map(({ number }) => String(number))
    const details = { graderId: grader.actor.id, questions }
    await recordAudit(inside, { action: 'graded', target: { kind: 'invite', id: inviteId }, details })
  })
}

/** Each question once, and one at least. */
function findWrongNumbers(grades: readonly QuestionGrade[], paper: readonly { number: number }[]): Issue[] {
  if (grades.length === 0) return [{ field: 'grades', rule: 'required' }]
  const questionNumbers = new Set(paper.map(({ number }) => number))
  return grades.flatMap(({ number }, i): Issue[] => {
    const isRepeated = grades.findIndex((grade) => grade.number === number) < i
    const field = `grades.${i}.number`
    const text = `${field} must be of ${isRepeated ? 'another question than those before' : 'a question that was asked'}`
    return isRepeated || !questionNumbers.has(number) ? [{ field, rule: 'malformed', text }] : []
  })
}

/** @property points total that the caller has seen; undefined: any. */
export type ReleaseForMember = OnBehalfOf & {
  comment: string
  message: string
  toCandidate: boolean
  points?: number | undefined
}

/** Releases the result. @throws DomainError as readGrading and releaseResult. */
export async function releaseForMember(ctx: Context, inviteId: string, { points, ...release }: ReleaseForMember): Promise<void> {
  await actOnBehalfOf(ctx, inviteId, release, async (inside, { id, state }, grader) => {
    const { total } = await readGrading(inside, inviteId)
    const isOther = state === 'submitted' && points !== undefined && !total.missing && points !== total.points
    throwIfIssues(isOther ? [createGradingIssue('otherPoints', total.points)] : [])
    await releaseResult(grader, { ...release, submissionId: id })
  })
}

/** Lets grading go on after a release. @throws DomainError as readGrading and reopenResult. */
export async function reopenForMember(ctx: Context, inviteId: string, input: OnBehalfOf): Promise<void> {
  await actOnBehalfOf(ctx, inviteId, input, (_inside, { id }, grader) => reopenResult(grader, id))
}

type Grader = Context & { actor: { id: string } }

/** Locks the submission during the work. @param work also gets the context of the member it acts for. */
async function actOnBehalfOf(
  ctx: Context,
  inviteId: string,
  { graderId }: OnBehalfOf,
  work: (inside: Context, submission: SubmissionToGrade, grader: Grader) => Promise<void>,
): Promise<void> {
  authorize(ctx, 'grade_for_members')
  await inTransaction(ctx, async (inside) => {
    const submission = await lockSubmitted(inside, await findId(inside, inviteId))
    await work(
      inside,
      submission,
      await toGraderContext(inside, submission, graderId ?? effectiveGraderOf(submission, 'first')?.id),
    )
  })
}

/** @throws DomainError invalid for anybody but a member who may grade this. */
async function toGraderContext(ctx: Context, submission: SubmissionToGrade, graderId: string | undefined): Promise<Grader> {
  if (graderId === undefined) throw new DomainError('invalid', { issues: [{ field: 'graderId', rule: 'required' }] })
  const [member] = isUuid(graderId) ? await findMembers(ctx, [graderId]) : []
  if (!member) throw new DomainError('invalid', { issues: [{ field: 'graderId', rule: 'reference', value: graderId }] })
  throwIfIssues(mayGrade(member) ? [] : [{ field: 'graderId', rule: 'grader', value: graderId }])
  const { id, userId, roles, portalRoles } = member
  const viaKey = ctx.actor.kind === 'apiKey' ? { viaKey: ctx.actor.id } : {}
  const grader: Grader = { ...ctx, actor: { kind: 'member', id, userId, roles, portalRoles, ...viaKey } }
  const text = 'graderId must be who it is assigned to, an admin or, while it is assigned to nobody, any grader'
  throwIfIssues(roundOf(grader, submission) === null ? [{ field: 'graderId', rule: 'malformed', text }] : [])
  return grader
}

async function findId(ctx: Context, inviteId: string): Promise<string> {
  const where = await whereInviteSubmission(ctx, inviteId)
  const found = await ctx.db.submission.findFirst({ where, select: { id: true } })
  if (!found) throw new DomainError('submission_not_found')
  return found.id
}
