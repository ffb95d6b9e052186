import { scopeWhere } from '../../../db/queries.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { setGrader } from '../../invites/change-invite.ts'
import { resolveReferences } from '../../invites/create-invite.ts'
import { inTransaction } from '../../transaction.ts'
import { checkUuid, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import {
  type AssignedGraders,
  effectiveGraderOf,
  type GraderSlot,
  lockSubmitted,
  type SubmissionToGrade,
  throwSubmissionNotFound,
} from './graded-submission.ts'
import { requireGraderId } from './save-grade.ts'

/** Form fields of the two graders. */
export const GRADER_FIELDS: Record<GraderSlot, string> = { first: 'assignedGraderId', second: 'secondGraderId' }

/**
 * The context's member grades a submission from now on: one that nobody grades, or (where it is graded twice) nobody grades besides
 * another; an admin also what another alone grades. Of two graders an admin takes no place, but decides.
 *
 * @throws DomainError not_permitted; submission_not_found for what is not theirs to take.
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

const isAssignedTo = (memberId: string, { grader, secondGrader }: AssignedGraders): boolean =>
  [grader?.id, secondGrader?.id].includes(memberId)

/** Grader slot that the member can take; null: none, or they have one already. */
export function findFreeGraderSlot(ctx: Context, submission: AssignedGraders): GraderSlot | null {
  if (!may(ctx, 'grade') || isAssignedTo(requireGraderId(ctx), submission)) return null
  if (effectiveGraderOf(submission, 'first') === null) return 'first'
  if (submission.assessment.secondGrader) return effectiveGraderOf(submission, 'second') === null ? 'second' : null
  return may(ctx, 'read') ? 'first' : null
}

/**
 * Somebody else grades it from now on, or nobody: for admins, and for the grader in whose place that is.
 *
 * @throws DomainError not_permitted; submission_not_found; invalid (rule `reference` or `grader`) unless it is an active member who may
 *   grade; rule `account`: gradesAlready, when the same member would grade twice.
 */
export async function reassignGrader(
  ctx: Context,
  submissionId: string,
  { place, graderId }: { place: GraderSlot; graderId: string | null },
): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const submission = await lockSubmitted(inside, submissionId)
    const field = GRADER_FIELDS[place]
    const [present, other] =
      place === 'first' ? [submission.graderId, submission.secondGraderId] : [submission.secondGraderId, submission.graderId]
    if (!may(inside, 'read') && present !== requireGraderId(inside)) throwSubmissionNotFound()
    if (place === 'second' && !submission.assessment.secondGrader) throwSubmissionNotFound()
    throwIfIssues(findIssues([[field, graderId === null ? undefined : checkUuid(graderId)]]))
    const { issues } = await resolveReferences(inside, { assignedGraderId: graderId, tagIds: [] })
    throwIfIssues(issues.map((issue) => ({ ...issue, field })))
    const isTwice = graderId !== null && graderId.toLowerCase() === other
    throwIfIssues(isTwice ? [{ field, rule: 'account', problem: 'gradesAlready' }] : [])
    await assign(inside, submission, place, graderId)
  })
}

/** The first grader is the invite's: the submission follows by itself. */
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
