import { scopeWhere } from '../../../db/queries.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { setGrader } from '../../invites/change-invite.ts'
import { resolveInviteReferences } from '../../invites/create-invite.ts'
import { inTransaction } from '../../transaction.ts'
import { checkUuid, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import {
  type AssignedGraders,
  assignedSlotOf,
  type GraderSlot,
  isSlotOpen,
  lockSubmitted,
  type SubmissionToGrade,
  throwSubmissionNotFound,
} from './graded-submission.ts'
import { requireGraderId } from './save-grade.ts'

/** Form fields of the two graders. */
export const GRADER_FIELDS: Record<GraderSlot, string> = { first: 'assignedGraderId', second: 'secondGraderId' }

/**
 * Assigns a submission to the actor: one without a grader or second grader; an admin may also take over from a single grader. With two
 * graders an admin takes no slot, but makes the final decision.
 *
 * @throws DomainError not_permitted; submission_not_found if the actor may not take it.
 */
export async function takeGraderSlot(ctx: Context, submissionId: string): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    authorize(inside, 'grade')
    const submission = await lockSubmitted(inside, submissionId)
    const me = requireGraderId(inside)
    if (isAssignedTo(me, submission)) return
    await assign(inside, submission, findFreeGraderSlot(inside, submission) ?? throwSubmissionNotFound(), me)
  })
}

const isAssignedTo = (memberId: string, submission: AssignedGraders): boolean =>
  [submission.grader?.id, submission.secondGrader?.id].includes(memberId) || assignedSlotOf(submission, memberId) !== null

/** Grader slot that the member can take; null: none, or they have one already. */
export function findFreeGraderSlot(ctx: Context, submission: AssignedGraders): GraderSlot | null {
  if (!may(ctx, 'grade') || isAssignedTo(requireGraderId(ctx), submission)) return null
  if (isSlotOpen(submission, 'first')) return 'first'
  if (submission.assessment.secondGrader) return isSlotOpen(submission, 'second') ? 'second' : null
  return may(ctx, 'read') ? 'first' : null
}

/**
 * Reassigns a slot, or frees it. For admins, and for the slot's grader.
 *
 * @throws DomainError not_permitted; submission_not_found; invalid (rule `reference` or `grader`) unless the member is active and may
 *   grade; rule `account`: gradesAlready if the same member would grade twice.
 */
export async function reassignGrader(
  ctx: Context,
  submissionId: string,
  { place, graderId }: { place: GraderSlot; graderId: string | null },
): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const submission = await lockSubmitted(inside, submissionId)
    const field = GRADER_FIELDS[place]
    const [currentGrader, otherGrader] =
      place === 'first' ? [submission.graderId, submission.secondGraderId] : [submission.secondGraderId, submission.graderId]
    if (!may(inside, 'read') && currentGrader !== requireGraderId(inside)) throwSubmissionNotFound()
    if (place === 'second' && !submission.assessment.secondGrader) throwSubmissionNotFound()
    throwIfIssues(findIssues([[field, graderId === null ? undefined : checkUuid(graderId)]]))
    const { issues } = await resolveInviteReferences(inside, { assignedGraderId: graderId, tagIds: [] })
    throwIfIssues(issues.map((issue) => ({ ...issue, field })))
    const isTwice = graderId !== null && graderId.toLowerCase() === otherGrader
    throwIfIssues(isTwice ? [{ field, rule: 'account', problem: 'gradesAlready' }] : [])
    await assign(inside, submission, place, graderId)
  })
}

/** The first grader is stored at the invite; a trigger updates the submission. */
async function assign(
  ctx: Context,
  { id, inviteId }: SubmissionToGrade,
  place: GraderSlot,
  graderId: string | null,
): Promise<void> {
  const where = { ...scopeWhere(ctx), id }
  if (place === 'first') {
    if (!(await setGrader(ctx, inviteId, graderId))) return
  } else await ctx.db.submission.updateMany({ where, data: { secondGraderId: graderId } })
  const action = place === 'first' ? 'assigned_grader' : 'assigned_second_grader'
  await recordAudit(ctx, { action, target: { kind: 'invite', id: inviteId }, details: { graderId } })
}
