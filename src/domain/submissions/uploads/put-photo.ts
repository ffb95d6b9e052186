import type { Readable } from 'node:stream'
import { scopeWhere } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { fileOf } from '../../files/media-keys.ts'
import { isJpeg } from '../../files/type-of-content.ts'
import { MAX_PHOTO_BYTES, MAX_PHOTOS, MAX_STILLS, MAX_SUBMISSION_BYTES, STILLS_EVERY_SECONDS } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { type MediaFile, toNewMediaRow } from '../media/media.ts'
import { PHOTOS, type RequiredPhoto } from '../needs.ts'
import { refuseSession } from '../taking/refuse-session.ts'
import { refuseWithoutSpace } from '../taking/refuse-without-space.ts'
import { lockSubmission, type PreparedSession, requireInProgress } from '../taking/session.ts'

/** Photos before the start, and webcam stills after it. */
export const PHOTO_KINDS = [...PHOTOS, 'webcam_still'] as const
export type PhotoKind = (typeof PHOTO_KINDS)[number]

/**
 * Checks a photo before its content is read.
 *
 * @param bytes of its content, by the request's header.
 * @throws DomainError session_refused: too_big, closed, submitted.
 */
export function checkPhoto(session: PreparedSession, kind: PhotoKind, bytes: number): void {
  const { submission } = session
  if (bytes > MAX_PHOTO_BYTES) refuseSession('too_big')
  if (kind === 'webcam_still') requireInProgress(session)
  else if (submission.state !== 'preparing') refuseSession('closed')
  if (!submission.consentMedia.includes(kind === 'webcam_still' ? 'camera' : kind)) refuseSession('closed')
}

/**
 * Stores a photo: before the start the latest one of each kind; afterwards stills of the webcam, limited in number and rate. The row is
 * written first, so that a sweep finds files after a crash.
 *
 * @throws DomainError session_refused: too_big, not_media, too_soon, too_many, quota, taken_over; closed without consent, or at another
 *   time; submitted.
 */
export async function putPhoto(session: PreparedSession, kind: PhotoKind, content: Buffer): Promise<void> {
  const { ctx } = session
  checkPhoto(session, kind, content.length)
  if (!isJpeg(content)) refuseSession('not_media')
  if (kind !== 'webcam_still') await refuseWithoutSpace(ctx)
  const media = await inTransaction(ctx, (inside) => beginPhoto({ ...session, ctx: inside }, kind, content.length))
  await ctx.deps.media.put(fileOf(media.key), content)
  await inTransaction(ctx, (inside) => showPhoto(inside, media))
}

/** Reserves the photo's bytes within the submission's quota. */
async function beginPhoto(session: PreparedSession, kind: PhotoKind, bytes: number) {
  const { ctx, submission } = session
  const { db } = ctx
  await lockSubmission(session, kind === 'webcam_still' ? 'in_progress' : 'preparing')
  const { count } = await db.submission.updateMany({
    where: { ...scopeWhere(ctx), id: submission.id, mediaBytes: { lte: MAX_SUBMISSION_BYTES - bytes } },
    data: { mediaBytes: { increment: bytes } },
  })
  if (count === 0) refuseSession('quota')
  if (kind === 'webcam_still') await refuseStillTooMany(ctx, submission.id)
  else await refusePhotoTooMany(ctx, submission.id, kind)
  const media = { ...toNewMediaRow(ctx, submission.id, kind), state: 'joining', contentType: 'image/jpeg', bytes } as const
  await db.mediaFile.create({ data: media })
  return media
}

async function refuseStillTooMany({ db, deps, organization }: Context, submissionId: string): Promise<void> {
  const stills = { organizationId: organization.id, submissionId, kind: 'webcam_still' } as const
  const earliest = new Date(deps.clock().getTime() - STILLS_EVERY_SECONDS * 1_000)
  if (await db.mediaFile.findFirst({ where: { ...stills, createdAt: { gt: earliest } }, select: { id: true } }))
    refuseSession('too_soon')
  if ((await db.mediaFile.count({ where: stills })) >= MAX_STILLS) refuseSession('too_many')
}

/** Photos that the store did not accept don't count: browsers retry while it is unavailable. */
async function refusePhotoTooMany({ db, organization }: Context, submissionId: string, kind: RequiredPhoto): Promise<void> {
  const storedPhotos = { organizationId: organization.id, submissionId, kind, completedAt: { not: null } }
  if ((await db.mediaFile.count({ where: storedPhotos })) >= MAX_PHOTOS) refuseSession('too_many')
}

/** Replaces the photo of its kind. A sweep deletes the files of the earlier one. */
async function showPhoto(
  ctx: Context,
  { id, submissionId, kind }: Pick<MediaFile, 'id' | 'submissionId' | 'kind'>,
): Promise<void> {
  const { db, deps, organization } = ctx
  const key = { organizationId: organization.id, submissionId }
  const now = deps.clock()
  if (kind !== 'webcam_still') {
    const { count } = await db.submission.updateMany({
      where: { ...scopeWhere(ctx), id: submissionId, state: 'preparing' },
      data: { updatedAt: now },
    })
    if (count === 0) refuseSession('closed') // started meanwhile
    await db.mediaFile.updateMany({ where: { ...key, kind, state: 'ready' }, data: { state: 'deleted', deletedAt: now } })
  }
  const { count } = await db.mediaFile.updateMany({
    where: { ...key, id, state: 'joining' },
    data: { state: 'ready', completedAt: now },
  })
  if (count === 0) refuseSession('closed') // deleted meanwhile
}

/** The candidate's own photo. @throws DomainError session_refused (not_found). */
export async function readCandidatePhoto(
  { ctx, submission }: PreparedSession,
  kind: RequiredPhoto,
): Promise<{ media: MediaFile; content: Readable }> {
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, kind, state: 'ready' } as const
  const media = await ctx.db.mediaFile.findFirst({ where })
  const content = media && (await ctx.deps.media.get(fileOf(media.key)))
  return content ? { media, content } : refuseSession('not_found')
}
