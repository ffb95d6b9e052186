import { type Asset, findReadyAsset } from '../../assets/assets.ts'
import { MEDIUM_KINDS } from '../../assets/upload-medium.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_CODE_LENGTH } from '../../limits.ts'
import { isTranscribing } from '../../organization/transcription.ts'
import type { TranscriptSegment } from '../../ports/transcriber.ts'
import { inTransaction } from '../../transaction.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { MAX_SEGMENT_LENGTH } from './correct-transcript.ts'
import { readSegments, storeSegments } from './segments.ts'

// Captions of a question's audio or video. They belong to the file, so a copied question has them too. Candidates see them only once an
// author has published them.

export type Captions = {
  state: 'queued' | 'ready' | 'failed'
  language: string
  segments: TranscriptSegment[]
  createdAt: Date
  changedAt: Date | null
  publishedAt: Date | null
}

/** Time of the last change, or of the request. */
export const versionOf = ({ createdAt, changedAt }: Pick<Captions, 'createdAt' | 'changedAt'>): Date => changedAt ?? createdAt

/** @property captions null: nobody asked for them. @property canRequest true if the organization sends recordings to a service. */
export type CaptionSettings = { asset: Asset; captions: Captions | null; canRequest: boolean }

/** @throws DomainError not_permitted, media_not_found. */
export async function readCaptions(ctx: Context, assetId: string): Promise<CaptionSettings> {
  authorize(ctx, 'write_assessments')
  const asset = await findPrompt(ctx, assetId)
  return { asset, captions: await findCaptions(ctx, assetId), canRequest: await isTranscribing(ctx) }
}

/**
 * Sends the sound to the speech recognition service for captions. Does nothing if there are captions already, also from a page of before;
 * a failure is replaced.
 *
 * @param language that is spoken; empty: unknown.
 * @throws DomainError not_permitted, media_not_found; invalid: a `language` that is too long, or transcription is off.
 */
export async function requestCaptions(ctx: Context, assetId: string, language: string): Promise<void> {
  authorize(ctx, 'write_assessments')
  await findPrompt(ctx, assetId)
  throwIfIssues(findIssues([['language', checkText(language, MAX_CODE_LENGTH)]]))
  throwIfIssues((await isTranscribing(ctx)) ? [] : [{ field: '', rule: 'malformed', text: NOT_TRANSCRIBED }])
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const key = { organizationId: organization.id, assetId }
    await lockAsset(inside, assetId)
    const captions = await findCaptions(inside, assetId)
    if (captions && captions.state !== 'failed') return
    const now = deps.clock()
    await db.caption.deleteMany({ where: key })
    await db.caption.create({ data: { ...key, state: 'queued', language, createdAt: now } })
    await deps.queue.enqueueTranscript(db, { mediaId: assetId, organizationId: organization.id, dueAt: now, isPrompt: true })
    await recordAudit(inside, { action: 'changed_captions', details: { change: 'requested' } })
  })
}

/**
 * Saves the author's corrections, and whether candidates see the captions. An emptied line is removed.
 *
 * @param texts by the number of the line. @param seen their version, as the page showed it.
 * @throws DomainError not_permitted; media_not_found, also without captions; invalid: a text that is too long, `changed` by somebody else.
 */
export async function changeCaptions(
  ctx: Context,
  assetId: string,
  { texts, isPublished, seen: seenAt }: { texts: ReadonlyMap<number, string>; isPublished: boolean; seen: Date | null },
): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await findPrompt(inside, assetId)
    await lockAsset(inside, assetId)
    const captions = await findCaptions(inside, assetId)
    if (captions?.state !== 'ready') throw new DomainError('media_not_found')
    throwIfIssues(findIssues([...texts].map(([i, text]) => [`segment-${i}`, checkText(text, MAX_SEGMENT_LENGTH)])))
    const version = versionOf(captions).getTime()
    const isSeen = version === seenAt?.getTime()
    throwIfIssues(isSeen ? [] : [{ field: 'segment-0', rule: 'changed', value: captions.segments[0]?.text ?? '' }])
    const segments = captions.segments
      .map((segment, i) => ({ ...segment, text: texts.get(i)?.trim() ?? segment.text, isUncertain: false }))
      .filter(({ text }) => text !== '')
    const now = deps.clock()
    const changedAt = new Date(Math.max(now.getTime(), version + 1))
    await db.caption.updateMany({
      where: { organizationId: organization.id, assetId },
      data: { segments: storeSegments(segments), changedAt, publishedAt: isPublished ? (captions.publishedAt ?? now) : null },
    })
    await recordAudit(inside, { action: 'changed_captions', details: { change: isPublished ? 'published' : 'saved' } })
  })
}

/** Deletes the captions, or the request for them. @throws DomainError not_permitted, media_not_found. */
export async function deleteCaptions(ctx: Context, assetId: string): Promise<void> {
  authorize(ctx, 'write_assessments')
  await findPrompt(ctx, assetId)
  await inTransaction(ctx, async (inside) => {
    const where = { organizationId: inside.organization.id, assetId }
    const { count } = await inside.db.caption.deleteMany({ where })
    if (count > 0) await recordAudit(inside, { action: 'changed_captions', details: { change: 'deleted' } })
  })
}

/** Captions of the first of these files that has published ones. */
export async function findPublishedCaptions(
  { db, organization }: Pick<Context, 'db' | 'organization'>,
  assetIds: string[],
): Promise<Pick<Captions, 'language' | 'segments'> | null> {
  const where = { organizationId: organization.id, assetId: { in: assetIds }, publishedAt: { not: null } }
  const row = await db.caption.findFirst({ where, orderBy: { assetId: 'asc' } })
  return row && { language: row.language, segments: readSegments(row.segments) }
}

async function findPrompt(ctx: Context, id: string): Promise<Asset> {
  const asset = await findReadyAsset(ctx, id)
  if (!MEDIUM_KINDS.some((kind) => kind === asset.kind)) throw new DomainError('media_not_found')
  return asset
}

async function findCaptions({ db, organization }: Context, assetId: string): Promise<Captions | null> {
  const row = await db.caption.findFirst({ where: { organizationId: organization.id, assetId } })
  if (!row) return null
  const { language, createdAt, changedAt, publishedAt } = row
  // Without sound there is nothing to show.
  const state = row.state === 'queued' || row.state === 'ready' ? row.state : 'failed'
  return { state, language, segments: readSegments(row.segments), createdAt, changedAt, publishedAt }
}

/** Serializes simultaneous requests. */
const lockAsset = ({ db }: Context, id: string) =>
  db.selectFrom('assets').select('id').where('id', '=', id).forNoKeyUpdate().execute()

const NOT_TRANSCRIBED = 'Transcripts are off: an admin can switch them on in the settings.'
