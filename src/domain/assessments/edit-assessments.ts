import { violatedConstraint } from '../../db/errors.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { type AuditAction, recordAudit } from '../audit/record-audit.ts'
import { authorOf } from '../authorization/author.ts'
import { authorize, may } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { lockTags } from '../tags/tags.ts'
import { nameKeys } from '../text/fold-text.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { issuesOfChangedFields } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import {
  type AssessmentInput,
  type AssessmentSettings,
  EMPTY_ASSESSMENT,
  findAssessmentIssues,
  pickSettings,
  toAssessmentInput,
} from './assessment-input.ts'
import { referencesOf, replaceReferences, resolveAssessmentReferences } from './assessment-references.ts'
import { type Assessment, getAssessment } from './assessments.ts'
import { copyMailTexts } from './copy-mail-texts.ts'
import { copyQuestions } from './copy-questions.ts'
import { deleteUnusedInstruction, saveInstruction } from './instructions.ts'

/**
 * Makes an assessment, without questions.
 *
 * @returns its id.
 * @throws DomainError not_permitted; invalid with the issues of findAssessmentIssues and resolveAssessmentReferences.
 */
export async function createAssessment(ctx: Context, submitted: AssessmentInput): Promise<string> {
  authorize(ctx, 'write_assessments')
  const input = keepSharing(ctx, EMPTY_ASSESSMENT, submitted)
  throwIfIssues(findAssessmentIssues(input))
  return inTransaction(ctx, async (inside) => {
    const references = await resolveAssessmentReferences(inside, input)
    const instructionId = await saveInstruction(inside, input, null)
    const id = await insert(inside, { ...input, instructionId, ...(await findReleaser(inside, input, null)) })
    await replaceReferences(inside, id, references)
    await record(inside, 'created_assessment', { id, name: input.name })
    return id
  })
}

/**
 * @throws DomainError not_permitted; assessment_not_found; invalid with the same issues, or `changed` for fields that somebody else changed
 *   since `seenAt`.
 */
export async function updateAssessment(ctx: Context, id: string, submitted: AssessmentInput, seenAt: SeenAt): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, id)
    const current = await toAssessmentInput(inside, assessment)
    const input = keepSharing(ctx, current, submitted)
    throwIfIssues(issuesOfChangedFields(findAssessmentIssues(input, current.languages), current, input))
    const version = {
      updatedAt: assessment.updatedAt,
      seen: seenAt,
      action: 'updated_assessment',
      targetId: assessment.id,
    } as const
    await refuseUnseenChanges(versionOf(inside, version), current, input)
    const releases = await findReleaser(inside, input, assessment.autoReleaseById)
    const references = await resolveAssessmentReferences(inside, input)
    const instructionId = await saveInstruction(inside, input, assessment)
    const updatedAt = timeOfChange(inside.deps.clock(), assessment)
    const where = { organizationId_id: { organizationId: inside.organization.id, id: assessment.id } }
    await inside.db.assessment.update({
      where,
      data: { ...pickSettings(input), ...nameKeys(input.name), ...releases, instructionId, updatedAt },
    })
    if (instructionId !== assessment.instructionId) await deleteUnusedInstruction(inside, assessment)
    await replaceReferences(inside, assessment.id, references)
    await record(inside, 'updated_assessment', { id: assessment.id, name: input.name })
  })
}

/** Keeps result settings for actors without permission to change them. */
const keepSharing = (ctx: Context, before: AssessmentInput, input: AssessmentInput): AssessmentInput => {
  if (may(ctx, 'share_results')) return input
  const { clients, releaseAutomatically, releaseToCandidate } = before
  return { ...input, clients, releaseAutomatically, releaseToCandidate }
}

/**
 * Changes the given fields of an assessment.
 *
 * @param seenAt time of the last change that the caller has read; undefined: overwrite any change. @throws DomainError as updateAssessment.
 */
export async function changeAssessment(
  ctx: Context,
  id: string,
  { archived, ...change }: Partial<AssessmentInput> & { archived?: boolean },
  seenAt?: SeenAt,
): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, id)
    const current = await toAssessmentInput(inside, assessment)
    if (Object.keys(change).length > 0)
      await updateAssessment(inside, id, { ...current, ...change }, seenAt ?? assessment.updatedAt)
    if (archived !== undefined) await setArchived(inside, id, archived)
  })
}

/**
 * Archives an assessment, or takes it out of the archive: the portal offers an archived one for no new invite, and lists it apart. Its
 * invites and results go on. Where it is so already nothing changes.
 *
 * @throws DomainError not_permitted; assessment_not_found.
 */
export async function setArchived(ctx: Context, id: string, isArchived: boolean): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, id)
    if ((assessment.archivedAt !== null) === isArchived) return
    const updatedAt = timeOfChange(inside.deps.clock(), assessment)
    const where = { organizationId_id: { organizationId: inside.organization.id, id: assessment.id } }
    await inside.db.assessment.update({ where, data: { archivedAt: isArchived ? updatedAt : null, updatedAt } })
    await record(inside, isArchived ? 'archived_assessment' : 'unarchived_assessment', assessment)
  })
}

/**
 * Makes another assessment with all that this one has but its invites.
 *
 * @returns the id of the copy.
 * @throws DomainError not_permitted; assessment_not_found.
 */
export async function duplicateAssessment(ctx: Context, id: string): Promise<string> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const original = await lockAssessment(inside, id)
    const name = [...`Copy of ${original.name}`].slice(0, MAX_NAME_LENGTH).join('')
    const off = { autoReleaseById: null, autoReleaseToCandidate: false }
    const copyId = await insert(inside, { ...original, ...off, name })
    const references = referencesOf(original)
    const tags = await lockTags(inMode(inside, 'live'), references.tagIds)
    await replaceReferences(inside, copyId, { ...references, tagIds: references.tagIds.filter((tagId) => tags.has(tagId)) })
    await copyQuestions(inside, original.id, copyId)
    await copyMailTexts(inside, original.id, copyId)
    await record(inside, 'duplicated_assessment', { id: copyId, name })
    return copyId
  })
}

/**
 * Deletes an assessment and its questions for good. The database refuses if there is an invite, including one that is created at the same
 * time.
 *
 * @throws DomainError not_permitted; assessment_not_found; invalid (`invited`) if there is an invite.
 */
export async function deleteAssessment(ctx: Context, id: string): Promise<void> {
  authorize(ctx, 'write_assessments')
  await getAssessment(ctx, id)
  await refuseInvited(ctx, id)
  const work = inTransaction(ctx, async (inside) => {
    // Concurrent invites lock the assessment first, then its counter. Waiting here without other locks avoids a deadlock.
    await inside.db.selectFrom('assessments').select('id').where('id', '=', id).forUpdate().execute()
    const assessment = await getAssessment(inside, id)
    await inside.db.assessment.deleteMany({ where: { organizationId: inside.organization.id, id: assessment.id } })
    await deleteUnusedInstruction(inside, assessment)
    await record(inside, 'deleted_assessment', assessment)
  })
  await work.catch(async (error) => {
    if (violatedConstraint(error) !== 'invites_assessment_fkey') throw error
    await refuseInvited(ctx, id)
    throw error
  })
}

/** @throws DomainError invalid (`invited`): by live invites, or by test invites alone. */
async function refuseInvited(ctx: Context, assessmentId: string): Promise<void> {
  for (const mode of ['live', 'test'] as const) {
    const { db, organization } = inMode(ctx, mode)
    const where = { organizationId: organization.id, assessmentId, mode }
    if (await db.invite.findFirst({ where, select: { id: true } })) throwIfIssues([{ field: '', rule: 'invited', value: mode }])
  }
}

/** Locks the assessment until the transaction ends, without blocking invitations. @throws DomainError assessment_not_found. */
export async function lockAssessment(ctx: Context, id: string): Promise<Assessment> {
  if (!isUuid(id)) throw new DomainError('assessment_not_found')
  await ctx.db.selectFrom('assessments').select('id').where('id', '=', id).forNoKeyUpdate().execute()
  return getAssessment(ctx, id)
}

type NewAssessment = AssessmentSettings & Pick<Assessment, 'instructionId' | 'autoReleaseById' | 'autoReleaseToCandidate'>

async function insert(
  { db, deps, organization, actor, mode }: Context,
  { instructionId, autoReleaseById, autoReleaseToCandidate, ...settings }: NewAssessment,
): Promise<string> {
  const now = deps.clock()
  const { createdById } = authorOf({ actor, mode })
  const baseColumns = { id: deps.newId(), organizationId: organization.id, createdById, createdAt: now, updatedAt: now }
  const { id } = await db.assessment.create({
    data: {
      ...pickSettings(settings),
      ...nameKeys(settings.name),
      instructionId,
      autoReleaseById,
      autoReleaseToCandidate,
      ...baseColumns,
    },
  })
  return id
}

/**
 * Member who is responsible for automatic releases: whoever turned them on or, if that member is inactive, the next member who saves the
 * assessment.
 *
 * @throws DomainError invalid if an API key turns them on.
 */
async function findReleaser(
  { db, organization, actor }: Context,
  { releaseAutomatically, releaseToCandidate }: AssessmentInput,
  before: string | null,
): Promise<Pick<Assessment, 'autoReleaseById' | 'autoReleaseToCandidate'>> {
  if (!releaseAutomatically) return { autoReleaseById: null, autoReleaseToCandidate: false }
  const where = { organizationId: organization.id, id: before ?? '', status: 'active' } as const
  const isThere = before !== null && (await db.member.count({ where })) > 0
  const actorId = actor.kind === 'member' ? actor.id : before
  const text = 'releaseAutomatically has to be turned on by a member, in the portal: results are released in their name'
  if (actorId === null) throw new DomainError('invalid', { issues: [{ field: 'releaseAutomatically', rule: 'malformed', text }] })
  return { autoReleaseById: isThere ? before : actorId, autoReleaseToCandidate: releaseToCandidate }
}

const record = (ctx: Context, action: AuditAction, { id, name }: { id: string; name: string }): Promise<void> =>
  recordAudit(ctx, { action, target: { kind: 'assessment', id }, details: { name } })
