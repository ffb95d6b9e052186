import type { Readable } from 'node:stream'
import { scopeWhere } from '../../../db/queries.ts'
import type { MediaFile, MediaKind, Prisma } from '../../../generated/prisma/client.ts'
import { isBlindTo } from '../../assessments/blind-grading.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { fileOf, newMediaKey, partOf } from '../../files/media-keys.ts'
import { readMediaLink } from '../../secrets/media-tokens.ts'
import { isUuid } from '../../text/uuid.ts'
import { authorizeSubmission, graderOfInvite, gradersOfAnswers } from '../visibility.ts'

export type { MediaFile, MediaKind }

/** Row of a file that is about to be stored. */
export function toNewMediaRow({ deps, organization }: Context, submissionId: string, kind: MediaKind) {
  const id = deps.newId()
  const createdAt = deps.clock()
  return {
    id,
    organizationId: organization.id,
    submissionId,
    kind,
    state: 'uploading',
    key: newMediaKey(organization),
    createdAt,
  } as const
}

/**
 * Finds a photo or recording for an actor who may see the submission. Blind graders see the answers only. For a recording that could not be
 * joined, use {@link readArrivedParts}.
 *
 * @throws DomainError media_not_found if it doesn't exist, or is not ready, or was deleted; not_permitted.
 */
export async function getMedia(ctx: Context, id: string): Promise<MediaFile> {
  const where = { organizationId: ctx.organization.id, id, submission: scopeWhere(ctx), OR: [...READABLE] }
  const found = isUuid(id)
    ? await ctx.db.mediaFile.findFirst({
        where,
        include: {
          submission: {
            select: {
              state: true,
              secondGraderId: true,
              needsThirdGrader: true,
              gradingAssignments: gradersOfAnswers,
              invite: { select: { assignedGrader: graderOfInvite } },
              assessment: { select: { blindGrading: true } },
            },
          },
        },
      })
    : null
  if (!found) throw new DomainError('media_not_found')
  const { submission, kind } = found
  authorizeSubmission(ctx, submission.invite, submission)
  if (kind !== 'answer' && isBlindTo(ctx, submission.assessment)) throw new DomainError('not_permitted')
  return found
}

/** Readable media. Others have not ended, are deleted, or are files that no scan has passed. */
const READABLE: Prisma.MediaFileWhereInput[] = [{ state: 'ready' }, { state: 'failed', fileName: null, parts: { some: {} } }]

/**
 * Finds the recording of a link.
 *
 * @throws DomainError media_not_found if the signature is invalid, the link has expired, or the recording was deleted or withdrawn.
 */
export async function findLinkedMedia(
  { db, deps }: ServiceContext,
  secretKeys: readonly string[],
  token: string,
): Promise<MediaFile> {
  const link = readMediaLink(secretKeys, token)
  const isGood = link !== null && link.expiresAt > deps.clock()
  const where = {
    state: 'ready',
    submission: { state: { not: 'withdrawn' }, invite: { organization: { suspension: null } } },
  } as const
  const media = isGood ? await db.mediaFile.findUnique({ where: { id: link.mediaId, ...where } }) : null
  if (!media) throw new DomainError('media_not_found')
  return media
}

/**
 * Its content, or a range of it: the positions of the first byte and the last.
 *
 * @throws Error when the store has lost it.
 */
export async function readMedia(
  { deps }: Pick<ServiceContext, 'deps'>,
  { key }: MediaFile,
  range?: { start: number; end: number },
): Promise<Readable> {
  const content = await deps.media.get(fileOf(key), range)
  if (!content) throw new Error('A file is not in the media store')
  return content
}

/**
 * Reads the parts of a recording that could not be joined, in order.
 *
 * @throws Error if the store has lost one.
 */
export async function* readArrivedParts({ db, deps }: Context, { id, organizationId, key }: MediaFile): AsyncGenerator<Buffer> {
  const where = { organizationId, mediaId: id }
  const parts = await db.mediaFilePart.findMany({ where, orderBy: [{ segment: 'asc' }, { number: 'asc' }] })
  for (const part of parts) {
    const content = await deps.media.get(partOf(key, part))
    if (!content) throw new Error('A part of a recording is not in the store')
    yield* content
  }
}

/** Number of failed recordings of all organizations. */
export const countFailedRecordings = ({ db }: Pick<ServiceContext, 'db'>): Promise<number> =>
  db.mediaFile.count({ where: { state: 'failed', threat: null } })

/** Bytes of all media of all organizations. The cost grows with the number of organizations only. */
export async function countAllMediaBytes({ db }: Pick<ServiceContext, 'db'>): Promise<number> {
  const { _sum } = await db.organizationMediaBytes.aggregate({ _sum: { bytes: true } })
  return Number(_sum.bytes ?? 0n)
}

/** Organizations with the most bytes of media, largest first. The cost depends on the number of organizations only. */
export async function listLargestMedia(
  { db }: Pick<ServiceContext, 'db'>,
  atMost: number,
): Promise<{ name: string; bytes: number }[]> {
  const sums = await db.organizationMediaBytes.groupBy({
    by: ['organizationId'],
    _sum: { bytes: true },
    having: { bytes: { _sum: { gt: 0 } } },
    orderBy: [{ _sum: { bytes: 'desc' } }, { organizationId: 'asc' }],
    take: atMost,
  })
  const ids = sums.map(({ organizationId }) => organizationId)
  const named = await db.organization.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } })
  const names = new Map(named.map(({ id, name }) => [id, name]))
  return sums.map(({ organizationId, _sum }) => ({
    name: names.get(organizationId) ?? organizationId,
    bytes: Number(_sum.bytes),
  }))
}
