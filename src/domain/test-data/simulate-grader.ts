import type { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { InviteDetail } from '../invites/invites.ts'
import { GRADING_ROLES } from '../members/graders.ts'
import { findPaper, findSubmitted, type SubmissionToGrade } from '../submissions/grading/graded-submission.ts'
import { findGrades } from '../submissions/grading/grades.ts'
import { countGrades } from '../submissions/grading/grading-status.ts'
import { takeGraderSlot } from '../submissions/grading/reassign-grader.ts'
import { mayRelease, releaseResult, reopenResult } from '../submissions/grading/release-result.ts'
import { saveGrades } from '../submissions/grading/save-grade.ts'
import { whereInviteSubmission } from '../submissions/reading/list-submissions.ts'
import type { SimulatedAnswers } from './simulated-answers.ts'

/** Share of the points in generated grades, rounded to halves: neither all points nor none. */
const MADE_UP = 0.8
const COMMENT = 'A simulated result.'

/**
 * Grades as requested, and fills in missing grades. A released result is reopened for requested grades. Acts for members who may grade: the
 * assigned ones, the creator of the key, or others. With two graders, both give the same points.
 *
 * @throws DomainError graders_missing if there are too few members who may grade.
 */
export async function gradeAnswers(ctx: Context, invite: InviteDetail, { grades }: SimulatedAnswers): Promise<void> {
  const { graders, submission } = await assignGraders(ctx, invite)
  const [first] = graders
  const { id: submissionId, assessment } = submission
  if (submission.state === 'released') {
    if (grades.length === 0) return
    await reopenResult(first, submissionId)
  }
  const paper = await findPaper(ctx, submissionId)
  const ungraded = countGrades(paper, await findGrades(ctx, submissionId), assessment).filter(
    ({ status }) => status.state !== 'graded',
  )
  const missing = new Set(ungraded.map(({ number }) => number))
  const newGrades = paper.flatMap(({ number, points: most, scored }) => {
    const chosen = grades.findLast((grade) => grade.number === number)
    if (!chosen && !(missing.has(number) && most > 0)) return []
    const { points, comment = '' } = chosen ?? { points: Math.round(most * MADE_UP * 2) / 2 }
    // Points that differ from the key's require a reason.
    return [{ number, points, comment: comment || (scored === null ? '' : COMMENT) }]
  })
  for (const grader of graders) await saveGrades(grader, { submissionId, grades: newGrades })
}

/** Releases the result, also to the candidate, unless it is released. */
export async function releaseGrades(ctx: Context, invite: InviteDetail): Promise<void> {
  const { graders, submission } = await assignGraders(ctx, invite)
  if (submission.state === 'released') return
  await releaseResult(graders[0], { submissionId: submission.id, comment: COMMENT, message: '', toCandidate: true })
}

/** Assigns as many graders as the assessment needs. The first can also release. */
async function assignGraders(
  ctx: Context,
  { id }: InviteDetail,
): Promise<{ graders: [Context, ...Context[]]; submission: SubmissionToGrade }> {
  const { assignedTo, submissionId } = await findAssigned(ctx, id)
  const members = await findGraders(ctx, assignedTo)
  const [first, second] = members.map((member) => toGraderContext(ctx, member))
  if (!first) throw new DomainError('graders_missing')
  const submission = await findSubmitted(first, submissionId)
  if (!submission.assessment.secondGrader) return { graders: [first], submission }
  if (!second) throw new DomainError('graders_missing')
  for (const grader of [first, second]) await takeGraderSlot(grader, submissionId)
  const assigned = await findSubmitted(first, submissionId)
  return { graders: mayRelease(first, assigned) ? [first, second] : [second, first], submission: assigned }
}

/** Members who may grade the submission; assigned graders first. */
async function findAssigned(ctx: Context, inviteId: string) {
  const { actor, db } = ctx
  const submission = await db.submission.findFirst({
    where: await whereInviteSubmission(ctx, inviteId),
    select: { id: true, graderId: true, secondGraderId: true },
  })
  if (!submission) throw new DomainError('submission_not_found')
  const keyOwner = actor.kind === 'apiKey' ? actor.createdById : null
  const assignedTo = [submission.graderId, submission.secondGraderId, keyOwner].filter((memberId) => memberId !== null)
  return { submissionId: submission.id, assignedTo }
}

type Member = { id: string; userId: string; roles: string[]; portalRoles: string[] }

/** Members who may grade: the preferred ones in order, then up to two others. */
async function findGraders({ db, organization }: Context, preferred: string[]): Promise<Member[]> {
  const may = {
    organizationId: organization.id,
    status: 'active',
    roles: { hasSome: [...GRADING_ROLES] },
  } satisfies Prisma.MemberWhereInput
  const select = { id: true, userId: true, roles: true, portalRoles: true } as const
  const found = await db.member.findMany({ where: { ...may, id: { in: preferred } }, select })
  const otherMembers = await db.member.findMany({
    where: { ...may, id: { notIn: preferred } },
    orderBy: [{ joinedAt: 'asc' }, { id: 'asc' }],
    take: 2,
    select,
  })
  return [...found.sort((one, other) => preferred.indexOf(one.id) - preferred.indexOf(other.id)), ...otherMembers]
}

/** Context of the member, simulated by the API key. */
const toGraderContext = (ctx: Context, { id, userId, roles, portalRoles }: Member): Context => ({
  ...ctx,
  actor: { kind: 'member', id, userId, roles, portalRoles, ...(ctx.actor.kind === 'apiKey' && { simulatedBy: ctx.actor.id }) },
})
