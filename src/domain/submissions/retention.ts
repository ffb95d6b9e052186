import { type MediaKind, Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { mediaDeleted, type ToldInvite } from '../events/event.ts'
import { recordEvents } from '../events/record.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../uuid.ts'
import type { KeptDays } from './kept.ts'
import { folderOf } from './media.ts'
import { PHOTO_KINDS } from './photos.ts'

// How media go: marked as deleted first, in the database, with the event; their files then. A crash between the two leaves files, which
// the next sweep removes.

const DAY_MS = 86_400_000
/** For so long media are kept of whoever never started, or whose invite was withdrawn. */
const UNUSED_DAYS = 30
/** A part that was on its way when its recording was deleted has arrived by then. */
const STRAY_MS = 60_000
/** No photo takes so long to get into the store. */
const UNFINISHED_MS = 600_000
/** Submissions, and media, of one statement. */
const FORGOTTEN_AT_ONCE = 50
const REMOVED_AT_ONCE = 100

/**
 * Deletes what has been kept for long enough, of all organizations, for the scheduled sweep:
 *
 * - photos of IDs and faces: so many days after the results were released; where none are, with the answers;
 * - stills and recordings of webcam and screen, and recorded answers: so many days after the submission was handed in or, where it never
 *   was, after they were recorded;
 * - everything of whoever never started, and of those whose invite was withdrawn before they handed in: after {@link UNUSED_DAYS}.
 */
export async function forgetOldMedia(system: ServiceContext, kept: KeptDays): Promise<void> {
  const before = (days: number) => new Date(system.deps.clock().getTime() - days * DAY_MS)
  const since = Prisma.sql`COALESCE(s.submitted_at, m.created_at)`
  const rules: [kinds: MediaKind[], until: Date, isDue: Prisma.Sql][] = [
    [
      ['id_photo', 'face_photo'],
      before(kept.idPhoto),
      Prisma.sql`s.state = 'released' AND s.released_at <= ${before(kept.idPhoto)}`,
    ],
    [['id_photo', 'face_photo', 'answer'], before(kept.answers), Prisma.sql`${since} <= ${before(kept.answers)}`],
    [['webcam_still', 'webcam', 'screen'], before(kept.proctoring), Prisma.sql`${since} <= ${before(kept.proctoring)}`],
    [
      ['id_photo', 'face_photo', 'answer', 'webcam_still', 'webcam', 'screen'],
      before(UNUSED_DAYS),
      Prisma.sql`s.state IN ('preparing', 'withdrawn')`,
    ],
  ]
  for (const [kinds, until, isDue] of rules) await forget(system, kinds, until, isDue)
  await forgetUnfinishedPhotos(system)
  await removeFiles(system)
}

/** Marks what is due, some submissions at a time. */
async function forget(system: ServiceContext, kinds: MediaKind[], until: Date, isDue: Prisma.Sql): Promise<void> {
  const which = Prisma.sql`m.state <> 'deleted' AND m.kind = ANY(${kinds}::media_kind[]) AND m.created_at <= ${until}`
  for (;;) {
    const due = await system.db.$queryRaw<{ organizationId: string; submissionId: string }[]>`
      SELECT DISTINCT m.organization_id AS "organizationId", m.submission_id AS "submissionId"
      FROM media m
      JOIN submissions s ON s.organization_id = m.organization_id AND s.id = m.submission_id
      WHERE ${which} AND ${isDue} LIMIT ${FORGOTTEN_AT_ONCE}`
    for (const { organizationId, submissionId } of due)
      await inTransaction(system, (inside) => markDeleted(inside, organizationId, submissionId, kinds, until))
    if (due.length < FORGOTTEN_AT_ONCE) return
  }
}

/** Marks a submission's media of these kinds, as far as they are older, with the event. @returns which kinds there were. */
async function markDeleted(
  ctx: ServiceContext,
  organizationId: string,
  submissionId: string,
  kinds: MediaKind[],
  until: Date,
): Promise<MediaKind[]> {
  const deletedAt = ctx.deps.clock()
  const gone = await ctx.db.media.updateManyAndReturn({
    where: { organizationId, submissionId, kind: { in: kinds }, state: { not: 'deleted' }, createdAt: { lte: until } },
    data: { state: 'deleted', deletedAt },
    select: { kind: true },
  })
  if (gone.length === 0) return []
  const found = [...new Set(gone.map(({ kind }) => kind))].sort()
  await recordEvents(ctx, [mediaDeleted(await findInvite(ctx, organizationId, submissionId), submissionId, found)])
  return found
}

async function findInvite({ db }: ServiceContext, organizationId: string, submissionId: string): Promise<ToldInvite> {
  const { invite } = await db.submission.findFirstOrThrow({
    where: { organizationId, id: submissionId },
    include: { invite: true },
  })
  return invite
}

/** Nobody has seen them: a crash, or a store that was away, has cut them off before they were there. */
async function forgetUnfinishedPhotos({ db, deps }: ServiceContext): Promise<void> {
  const deletedAt = deps.clock()
  const createdAt = { lte: new Date(deletedAt.getTime() - UNFINISHED_MS) }
  await db.media.updateMany({
    where: { state: 'joining', kind: { in: [...PHOTO_KINDS] }, createdAt },
    data: { state: 'deleted', deletedAt },
  })
}

/** Removes the files of what is marked. They are looked for once more a minute later, for what was on its way. */
async function removeFiles(system: ServiceContext): Promise<void> {
  const { db, deps } = system
  const until = new Date(deps.clock().getTime() - STRAY_MS)
  for (;;) {
    const marked = await db.media.findMany({
      where: { state: 'deleted', removedAt: null, deletedAt: { lte: until } },
      select: { id: true, organizationId: true, submissionId: true, key: true },
      take: REMOVED_AT_ONCE,
    })
    for (const { id, organizationId, submissionId, key } of marked) {
      await deps.media.deletePrefix(folderOf(key))
      await inTransaction(system, async (inside) => {
        await inside.db.mediaPart.deleteMany({ where: { organizationId, mediaId: id } })
        const [removed] = await inside.db.media.updateManyAndReturn({
          where: { organizationId, id, removedAt: null },
          data: { removedAt: deps.clock() },
          select: { bytes: true },
        })
        if (!removed) return
        const where = { organizationId, id: submissionId }
        await inside.db.submission.updateMany({ where, data: { mediaBytes: { decrement: removed.bytes } } })
      })
    }
    if (marked.length < REMOVED_AT_ONCE) return
  }
}

/**
 * Deletes an invite's photos and recordings of these kinds, of all its submissions, at once and for good.
 *
 * @throws DomainError not_permitted, invite_not_found.
 */
export async function deleteSubmissionMedia(ctx: Context, inviteId: string, kinds: MediaKind[]): Promise<void> {
  authorize(ctx, 'operate_invites')
  const organizationId = ctx.organization.id
  const invite = isUuid(inviteId) ? await ctx.db.invite.findFirst({ where: { organizationId, id: inviteId } }) : null
  if (!invite) throw new DomainError('invite_not_found')
  const media = await ctx.db.media.findMany({
    where: { organizationId, submission: { inviteId }, kind: { in: kinds }, state: { not: 'deleted' } },
    select: { submissionId: true, key: true },
  })
  const submissions = new Set(media.map(({ submissionId }) => submissionId))
  await inTransaction(ctx, async (inside) => {
    for (const submissionId of submissions) await markDeleted(inside, organizationId, submissionId, kinds, ctx.deps.clock())
    await recordAudit(inside, { action: 'deleted_media', target: { kind: 'invite', id: inviteId }, details: { kinds } })
  })
  for (const { key } of media) await ctx.deps.media.deletePrefix(folderOf(key))
}
