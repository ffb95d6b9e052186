import { hash } from 'node:crypto'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { newMediaKey, partOf } from '../files/media-keys.ts'
import { containerOf } from '../files/type-of-content.ts'
import { MAX_PART_BYTES, MAX_PARTS, MAX_PROMPT_BYTES, MAX_SEGMENTS, MAX_SMALL_PARTS, SMALL_PART_BYTES } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import type { Asset } from './assets.ts'
import { lacksSpace } from './lacks-space.ts'

// Uploads audio and video of questions in parts, from a file or while it is recorded.

export const MEDIUM_KINDS = ['audio', 'video'] as const
export type MediumKind = (typeof MEDIUM_KINDS)[number]

/** Begins one. @returns its id. @throws DomainError not_permitted; invalid where there is no room. */
export async function beginMedium(ctx: Context, kind: MediumKind): Promise<string> {
  authorize(ctx, 'write_assessments')
  const { actor, db, deps, organization } = ctx
  if (await lacksSpace(ctx, MAX_PROMPT_BYTES)) throwIfIssues([issue(NO_ROOM)])
  const [id, now] = [deps.newId(), deps.clock()]
  const createdById = actor.kind === 'member' ? actor.id : null
  const facts = { kind, state: 'uploading', key: newMediaKey(organization), createdById }
  await db.asset.create({ data: { organizationId: organization.id, id, ...facts, createdAt: now, checkedAt: now } })
  return id
}

type Part = { segment: number; number: number; content: Buffer }

/**
 * Stores a part in the media store, then its row. Repeating the same part changes nothing. Limits are checked first, because stored files
 * without rows are not counted.
 *
 * @throws DomainError not_permitted, media_not_found; invalid if the part is no media, exceeds a limit, differs from the stored one, or
 *   comes too late.
 */
export async function putMediumPart(ctx: Context, id: string, { segment, number, content }: Part): Promise<void> {
  authorize(ctx, 'write_assessments')
  const { deps, organization } = ctx
  const asset = await findMedium(ctx, id)
  const part = { segment, number, bytes: content.length, sha256: new Uint8Array(hash('sha256', content, 'buffer')) }
  if (await isKnown(ctx, asset, part)) return
  await refuseUnlessTaken(ctx, asset, part)
  const contentType = number === 0 ? containerOf(content) : asset.contentType
  if (!contentType || (asset.contentType !== '' && contentType !== asset.contentType)) throwIfIssues([issue(NO_MEDIUM)])
  if (await lacksSpace(ctx, content.length)) throwIfIssues([issue(NO_ROOM)])
  await deps.media.put(partOf(asset.key, part), content)
  await inTransaction(ctx, async (inside) => {
    const { db } = inside
    const lockedMedium = await lockMedium(inside, asset.id)
    if (await isKnown(inside, asset, part)) return
    await refuseUnlessTaken(inside, { ...asset, ...lockedMedium }, part)
    const key = { organizationId: organization.id, assetId: asset.id }
    await db.assetPart.create({ data: { ...key, ...part, createdAt: deps.clock() } })
    const data = { bytes: { increment: content.length }, contentType: contentType ?? '' }
    await db.asset.updateMany({ where: { organizationId: organization.id, id: asset.id }, data })
  })
}

type Measured = { segment: number; number: number; bytes: number; sha256: Uint8Array }

/** @throws DomainError invalid if a different part was stored at the same place. */
async function isKnown({ db, organization }: Context, { id }: Asset, { segment, number, sha256 }: Measured): Promise<boolean> {
  const storedPart = await db.assetPart.findFirst({ where: { organizationId: organization.id, assetId: id, segment, number } })
  if (storedPart && Buffer.compare(storedPart.sha256, sha256) !== 0) throwIfIssues([issue(DIFFERS)])
  return storedPart !== null
}

type LockedMedium = { id: string; state: string; bytes: bigint | string }

/** Limits bytes and the number of parts, because even a tiny part costs a row and a file. The same limits as for recordings. */
async function refuseUnlessTaken(
  { db, organization }: Context,
  { id, ...lockedMedium }: LockedMedium,
  part: Measured,
): Promise<void> {
  if (lockedMedium.state !== 'uploading') throwIfIssues([issue(TOO_LATE)])
  if (part.bytes === 0) throwIfIssues([issue(EMPTY)])
  if (part.bytes > MAX_PART_BYTES || Number(lockedMedium.bytes) + part.bytes > MAX_PROMPT_BYTES) throwIfIssues([issue(TOO_LARGE)])
  if (part.segment >= MAX_SEGMENTS || part.number >= MAX_PARTS) throwIfIssues([issue(TOO_MANY)])
  if (part.bytes >= SMALL_PART_BYTES) return
  const parts = await db.assetPart.count({ where: { organizationId: organization.id, assetId: id } })
  if (parts >= MAX_SMALL_PARTS) throwIfIssues([issue(TOO_MANY)])
}

/**
 * Completes an upload, and queues joining its parts. Repeatable.
 *
 * @param segments number of parts in each segment. @param queue queues the join in the transaction.
 * @throws DomainError not_permitted, media_not_found; invalid if parts are missing.
 */
export async function completeMedium(
  ctx: Context,
  id: string,
  segments: number[],
  queue: (inside: Context, asset: Asset) => Promise<unknown>,
): Promise<void> {
  authorize(ctx, 'write_assessments')
  const asset = await findMedium(ctx, id)
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    if ((await lockMedium(inside, asset.id)).state !== 'uploading') return
    const key = { organizationId: organization.id, assetId: asset.id }
    const parts = await db.assetPart.findMany({ where: key, select: { segment: true, number: true } })
    const storedParts = new Set(parts.map(({ segment, number }) => `${segment}/${number}`))
    const isWhole = segments.every((count, segment) =>
      Array.from({ length: count }, (_, n) => n).every((n) => storedParts.has(`${segment}/${n}`)),
    )
    if (parts.length === 0 || !isWhole) throwIfIssues([issue(MISSING)])
    const data = { state: 'joining', declaredParts: segments, completedAt: deps.clock() }
    await db.asset.updateMany({ where: { organizationId: organization.id, id: asset.id }, data })
    await queue(inside, asset)
  })
}

/** One that is on its way, or has become whole or not. @throws DomainError not_permitted, media_not_found. */
export async function getMedium(ctx: Context, id: string): Promise<Asset> {
  authorize(ctx, 'write_assessments')
  return findMedium(ctx, id)
}

async function findMedium({ db, organization }: Context, id: string): Promise<Asset> {
  const where = { organizationId: organization.id, id, kind: { in: [...MEDIUM_KINDS] } }
  const asset = isUuid(id) ? await db.asset.findFirst({ where }) : null
  if (!asset) throw new DomainError('media_not_found')
  return asset
}

async function lockMedium(ctx: Context, id: string): Promise<{ state: string; bytes: string }> {
  const lockedMedium = await ctx.db
    .selectFrom('assets')
    .where('id', '=', id)
    .select(['state', 'bytes'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!lockedMedium) throw new DomainError('media_not_found')
  return lockedMedium
}

const issue = (text: string): Issue => ({ field: 'medium', rule: 'malformed', text })

const NO_ROOM = 'There is no space for more media. Ask the operator of this service.'
const NO_MEDIUM = 'This is no WebM or MP4 (.webm, .mp4, .m4a). Save it as one of these first.'
const TOO_LARGE = `An audio or video can have at most ${MAX_PROMPT_BYTES / 1e6} MB.`
const EMPTY = 'A part of it arrived empty. Send it again.'
const TOO_MANY = 'These are too many parts. Begin again, with larger ones.'
const DIFFERS = 'This part was sent before, with another content. Begin again.'
const TOO_LATE = 'This was ended already.'
const MISSING = 'Parts of it have not arrived. Send it again.'
