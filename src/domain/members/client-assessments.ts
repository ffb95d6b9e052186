import { anyOfIds } from '../../db/queries.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { lockMember } from './members.ts'

// Clients see the released results of the assessments that are shared with them. The form of an assessment changes the same list.
// Lock order: assessments by id, then the member, as when an assessment is saved.

type LockedAssessment = { id: string; name: string; updatedAt: Date }

/** @throws DomainError not_permitted. */
export async function listClientAssessmentIds(ctx: Context, memberId: string): Promise<string[]> {
  authorize(ctx, 'share_results')
  const shared = ctx.db.selectFrom('assessmentClients').where('memberId', '=', memberId).select('assessmentId')
  return (await shared.execute()).map(({ assessmentId }) => assessmentId)
}

/**
 * Changes which assessments are shared with a member. What others shared or stopped sharing in the meantime stays so.
 *
 * @param seenIds the assessments that were shared when the caller read them.
 * @throws DomainError not_permitted, member_not_found; invalid for an unknown assessment (rule `reference`).
 */
export async function changeClientAssessments(
  ctx: Context,
  memberId: string,
  { seenIds, wantedIds }: { seenIds: string[]; wantedIds: string[] },
): Promise<void> {
  authorize(ctx, 'manage_members')
  await inTransaction(ctx, async (inside) => {
    const addedIds = wantedIds.filter((id) => !seenIds.includes(id))
    const removedIds = seenIds.filter((id) => !wantedIds.includes(id))
    const assessments = await lockAssessments(inside, [...addedIds, ...removedIds])
    refuseUnknown(addedIds, assessments)
    await lockMember(inside, memberId)
    const currentIds = await listClientAssessmentIds(inside, memberId)
    const added = assessments.filter(({ id }) => addedIds.includes(id) && !currentIds.includes(id))
    const removed = assessments.filter(({ id }) => removedIds.includes(id) && currentIds.includes(id))
    if (added.length + removed.length === 0) return
    await addRows(inside, memberId, added)
    await inside.db.assessmentClient.deleteMany({
      where: { organizationId: inside.organization.id, memberId, assessmentId: { in: removed.map(({ id }) => id) } },
    })
    await touch(inside, [...added, ...removed])
    const details = { shared: namesOf(added), unshared: namesOf(removed) }
    await recordAudit(inside, { action: 'changed_client_assessments', target: { kind: 'member', id: memberId }, details })
  })
}

/**
 * Locks assessments to share with a member who is being invited. Call it before the member is locked.
 *
 * @throws DomainError not_permitted; invalid for an unknown assessment (rule `reference`).
 */
export async function lockAssessmentsToShare(inside: Context, ids: string[]): Promise<LockedAssessment[]> {
  if (ids.length === 0) return []
  authorize(inside, 'share_results')
  const assessments = await lockAssessments(inside, ids)
  refuseUnknown(ids, assessments)
  return assessments
}

/** Shares locked assessments with a locked member. @returns names of the newly shared ones. */
export async function shareAssessments(inside: Context, memberId: string, assessments: LockedAssessment[]): Promise<string[]> {
  if (assessments.length === 0) return []
  const currentIds = await listClientAssessmentIds(inside, memberId)
  const added = assessments.filter(({ id }) => !currentIds.includes(id))
  await addRows(inside, memberId, added)
  await touch(inside, added)
  return namesOf(added)
}

const namesOf = (assessments: LockedAssessment[]): string[] => assessments.map(({ name }) => name)

const lockAssessments = (inside: Context, ids: string[]): Promise<LockedAssessment[]> =>
  inside.db
    .selectFrom('assessments')
    .where('id', '=', anyOfIds(ids.filter(isUuid)))
    .select(['id', 'name', 'updatedAt'])
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()

const refuseUnknown = (ids: string[], found: LockedAssessment[]): void =>
  throwIfIssues(
    ids
      .filter((id) => !found.some((assessment) => assessment.id === id))
      .map((value) => ({ field: 'assessments', rule: 'reference', value })),
  )

/** Adds the member behind each assessment's other clients. */
async function addRows({ db, organization }: Context, memberId: string, assessments: LockedAssessment[]): Promise<void> {
  const ids = assessments.map(({ id }) => id)
  const clients = await db.assessmentClient.groupBy({
    by: ['assessmentId'],
    where: { organizationId: organization.id, assessmentId: { in: ids } },
    _max: { position: true },
  })
  const lastPositions = new Map(clients.map(({ assessmentId, _max }) => [assessmentId, _max.position ?? -1]))
  await db.assessmentClient.createMany({
    data: ids.map((assessmentId) => ({
      organizationId: organization.id,
      assessmentId,
      memberId,
      position: (lastPositions.get(assessmentId) ?? -1) + 1,
    })),
  })
}

/** Marks the assessments as changed, so that a form of one that was opened earlier can't undo the change unseen. */
async function touch({ db, deps, organization }: Context, assessments: LockedAssessment[]): Promise<void> {
  for (const assessment of assessments)
    await db.assessment.update({
      where: { organizationId_id: { organizationId: organization.id, id: assessment.id } },
      data: { updatedAt: timeOfChange(deps.clock(), assessment) },
    })
}
