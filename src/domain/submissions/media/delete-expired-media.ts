import { sql } from '../../../db/builder.ts'
import { anyOfIds, type Expressions, type RawBuilder, type SqlBool, sameOrganization, scopeWhere } from '../../../db/queries.ts'
import { tenantDb } from '../../../db/tenant-db.ts'
import { unscoped } from '../../../db/unscoped.ts'
import type { MediaKind } from '../../../generated/prisma/client.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { authorize } from '../../authorization/permissions.ts'
import { type FailedItem, processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import { startTimeBudget } from '../../concurrency/sweep-parts.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type EventInvite, mediaDeleted } from '../../events/event.ts'
import { recordEvents } from '../../events/record-events.ts'
import { isUuid } from '../../text/uuid.ts'
import { DAY_MS } from '../../time/days.ts'
import { inTransaction } from '../../transaction.ts'

/** Days after the end of a test until its media are deleted. */
export type KeptDays = { idPhoto: number; proctoring: number; answers: number }

// Media are first marked as deleted in the database, with the event. Their files follow, see remove-files.ts.

/** Retention of media if the candidate never started, or if the invite was withdrawn. */
const UNUSED_DAYS = 30
/** Longer than any photo takes to reach the store. */
const UNFINISHED_MS = 600_000
/** Submissions of one statement. */
const LOOKED_AT_ONCE = 100
const SET_ASIDE_MS = 3_600_000

/** @param due whether any of its media are. */
type CheckedSubmission = { organizationId: string; submissionId: string; due: boolean }

/**
 * Deletes expired media of all organizations, for the scheduled sweep:
 *
 * - photos of IDs and faces: some days after the release, or with the answers if there is none; - stills and recordings of webcam and
 * screen, and recorded answers: some days after submitting, or after the recording if it was never submitted; - all media of invites that
 * were never started, or were withdrawn before submitting: after {@link UNUSED_DAYS}.
 *
 * A submission is checked when one of its media is due, and once a day because its state or the settings may have changed, until it has no
 * media. So the cost depends on what is due, not on what is stored.
 */
export async function deleteExpiredMedia(system: ServiceContext, retentionDays: KeptDays): Promise<void> {
  await deleteUnfinishedPhotos(system)
  const dueAt = dueBy(retentionDays)
  const failed: FailedItem<CheckedSubmission>[] = []
  for (const isOver = startTimeBudget(); !isOver(); ) {
    const checkedSubmissions = await findToCheck(system, dueAt)
    const dueNow = checkedSubmissions.filter(({ due }) => due)
    const failedNow = await processEach(dueNow, ({ organizationId, submissionId }) =>
      inTransaction(system, (inside) => deleteDue(inside, organizationId, submissionId, dueAt)),
    )
    failed.push(...failedNow)
    await planNextCheck(system, checkedSubmissions, retentionDays)
    await setAside(
      system,
      failedNow.map(({ item }) => item),
    )
    if (checkedSubmissions.length < LOOKED_AT_ONCE) break
  }
  throwFirstFailure(failed)
}

/** Due time of a submission's next media file: the earliest of the non-null times. */
type DueBy = (eb: Expressions<'mediaFiles' | 'submissions'>) => RawBuilder<Date>
const dueBy =
  (retentionDays: KeptDays): DueBy =>
  ({ ref }) => {
    const [kind, state, createdAt] = [ref('mediaFiles.kind'), ref('submissions.state'), ref('mediaFiles.createdAt')]
    return sql`least(
      coalesce(${ref('submissions.submittedAt')}, ${createdAt}) + interval '24 hours' *
        case when ${kind} in ('webcam_still', 'webcam', 'screen') then ${retentionDays.proctoring}::integer else ${retentionDays.answers}::integer end,
      case when ${state} in ('preparing', 'withdrawn') then ${createdAt} + interval '24 hours' * ${UNUSED_DAYS}::integer end,
      case when ${state} = 'released' and ${kind} in ('id_photo', 'face_photo')
        then ${ref('submissions.releasedAt')} + interval '24 hours' * ${retentionDays.idPhoto}::integer end)`
  }

function findToCheck({ db, deps }: ServiceContext, dueAt: DueBy): Promise<CheckedSubmission[]> {
  const now = deps.clock()
  const checkedSubmissions = unscoped(db)
    .selectFrom('submissions')
    .select(({ exists, selectFrom }) => {
      const dueFiles = selectFrom('mediaFiles')
        .select('mediaFiles.id')
        .where(sameOrganization('mediaFiles', 'submissions'))
        .whereRef('mediaFiles.submissionId', '=', 'submissions.id')
        .where('mediaFiles.state', '<>', 'deleted')
        .where((eb) => eb(dueAt(eb), '<=', now))
      return ['submissions.organizationId', 'submissions.id as submissionId', exists(dueFiles).$castTo<boolean>().as('due')]
    })
    .where('submissions.mediaDeletionDueAt', '<=', now)
    .orderBy('submissions.mediaDeletionDueAt')
    .limit(LOOKED_AT_ONCE)
  return checkedSubmissions.execute()
}

/** Marks a submission's due media as deleted, with the event. */
async function deleteDue(ctx: ServiceContext, organizationId: string, submissionId: string, dueAt: DueBy): Promise<void> {
  const now = ctx.deps.clock()
  const db = tenantDb(ctx.db, { organization: { id: organizationId }, mode: 'all' })
  const submission = db.selectFrom('submissions').where('submissions.id', '=', submissionId)
  const dueFiles = db
    .updateTable('mediaFiles')
    .from(submission.selectAll().as('submissions'))
    .set({ state: 'deleted', deletedAt: now })
    .whereRef('mediaFiles.submissionId', '=', 'submissions.id')
    .where('mediaFiles.state', '<>', 'deleted')
    .where((eb) => eb(dueAt(eb), '<=', now))
  await recordDeletion(ctx, organizationId, submissionId, await dueFiles.returning('mediaFiles.kind').execute())
}

/** Submissions that changed their state meanwhile are checked again. */
async function planNextCheck(
  { db, deps }: ServiceContext,
  checkedSubmissions: CheckedSubmission[],
  retentionDays: KeptDays,
): Promise<void> {
  if (checkedSubmissions.length === 0) return
  const after = (days: number) => new Date(deps.clock().getTime() + days * DAY_MS)
  const first = after(Math.min(retentionDays.idPhoto, retentionDays.proctoring, retentionDays.answers, UNUSED_DAYS))
  const kinds = unscoped(db)
    .selectFrom('submissions')
    .leftJoin('mediaFiles', (join) =>
      join
        .on(sameOrganization('mediaFiles', 'submissions'))
        .onRef('mediaFiles.submissionId', '=', 'submissions.id')
        .on('mediaFiles.state', '<>', 'deleted'),
    )
    .where('submissions.id', '=', anyOfIds(checkedSubmissions.map(({ submissionId }) => submissionId)))
    .groupBy('submissions.id')
    .select((eb) => [
      'submissions.id',
      'submissions.state',
      eb.fn.count('mediaFiles.id').as('kept'),
      sql<Date | null>`min(${dueBy(retentionDays)(eb)}) filter (where ${eb.ref('mediaFiles.id')} is not null)`.as('due'),
    ])
  const plan = unscoped(db)
    .with('looked', () => kinds)
    .updateTable('submissions')
    .from('looked')
    .set(({ ref }) => ({
      mediaDeletionDueAt: sql<Date | null>`case when ${ref('looked.kept')} > 0 then least(${ref('looked.due')}, ${after(1)}::timestamptz)
        when ${ref('looked.state')} in ('preparing', 'in_progress') then ${first}::timestamptz end`,
    }))
    .whereRef('submissions.id', '=', 'looked.id')
    .whereRef('submissions.state', '=', 'looked.state')
  await plan.execute()
}

/** Postpones files that can't be deleted now, so that they don't block the others in each sweep. */
async function setAside({ db, deps }: ServiceContext, failed: CheckedSubmission[]): Promise<void> {
  if (failed.length === 0) return
  const mediaDeletionDueAt = new Date(deps.clock().getTime() + SET_ASIDE_MS)
  await db.submission.updateMany({
    where: { id: { in: failed.map(({ submissionId }) => submissionId) } },
    data: { mediaDeletionDueAt },
  })
}

/** Records which kinds were deleted, if any were. */
async function recordDeletion(
  ctx: ServiceContext,
  organizationId: string,
  submissionId: string,
  deletedMedia: { kind: MediaKind }[],
): Promise<void> {
  if (deletedMedia.length === 0) return
  const kinds = [...new Set(deletedMedia.map(({ kind }) => kind))].sort()
  await recordEvents(ctx, [mediaDeleted(await findInvite(ctx, organizationId, submissionId), submissionId, kinds)])
}

async function findInvite({ db }: ServiceContext, organizationId: string, submissionId: string): Promise<EventInvite> {
  const { invite } = await tenantDb(db, { organization: { id: organizationId }, mode: 'all' }).submission.findFirstOrThrow({
    where: { organizationId, id: submissionId },
    include: { invite: true },
  })
  return invite
}

/**
 * Deletes photos whose upload was cut off by a crash or an unavailable store; nobody has seen them. The states are literals, because a
 * partial index doesn't serve parameters.
 */
async function deleteUnfinishedPhotos({ db, deps }: ServiceContext): Promise<void> {
  const now = deps.clock()
  const unfinished = unscoped(db)
    .updateTable('mediaFiles')
    .set({ state: 'deleted', deletedAt: now })
    .where('mediaFiles.state', '=', sql.lit('joining'))
    .where(({ ref }) => sql<SqlBool>`${ref('mediaFiles.kind')} in ('id_photo', 'face_photo', 'webcam_still')`)
    .where('mediaFiles.createdAt', '<=', new Date(now.getTime() - UNFINISHED_MS))
  await unfinished.execute()
}

/**
 * Deletes an invite's photos and recordings of these kinds, of all its submissions, for good. They are hidden immediately; a sweep deletes
 * their files soon after, even if the store is unavailable now.
 *
 * @throws DomainError not_permitted, invite_not_found.
 */
export async function deleteSubmissionMedia(ctx: Context, inviteId: string, kinds: MediaKind[]): Promise<void> {
  authorize(ctx, 'operate_invites')
  const organizationId = ctx.organization.id
  const invite = isUuid(inviteId) ? await ctx.db.invite.findFirst({ where: { ...scopeWhere(ctx), id: inviteId } }) : null
  if (!invite) throw new DomainError('invite_not_found')
  await inTransaction(ctx, async (inside) => {
    const deletedMedia = await inside.db.mediaFile.updateManyAndReturn({
      where: { organizationId, submission: { inviteId }, kind: { in: kinds }, state: { not: 'deleted' } },
      data: { state: 'deleted', deletedAt: ctx.deps.clock() },
      select: { submissionId: true, kind: true },
    })
    for (const [submissionId, inIt] of Map.groupBy(deletedMedia, ({ submissionId }) => submissionId))
      await recordDeletion(inside, organizationId, submissionId, inIt)
    await recordAudit(inside, { action: 'deleted_media', target: { kind: 'invite', id: inviteId }, details: { kinds } })
  })
}
