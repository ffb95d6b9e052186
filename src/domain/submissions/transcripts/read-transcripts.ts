import type { Transcript as Row } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import type { TranscriptSegment } from '../../ports/transcriber.ts'
import { getMedia, type MediaFile } from '../media/media.ts'
import { readSegments } from './segments.ts'

/** `pending`: not transcribed yet. `silent`: the recording has no sound. */
export const TRANSCRIPT_STATES = ['pending', 'ready', 'silent', 'failed'] as const
export type TranscriptState = (typeof TRANSCRIPT_STATES)[number]

/** Words of a recording. They are of a machine, as far as nobody corrected them. @property original the machine's, if they were corrected. */
export type Transcript = Pick<Row, 'mediaId' | 'language' | 'model' | 'correctedAt' | 'completedAt'> & {
  state: TranscriptState
  segments: TranscriptSegment[]
  original: TranscriptSegment[] | null
}

export const toTranscript = ({ mediaId, language, model, correctedAt, completedAt, ...row }: Row): Transcript => ({
  ...{ mediaId, language, model, correctedAt, completedAt },
  state: TRANSCRIPT_STATES.find((state) => state === row.state) ?? 'pending',
  segments: readSegments(row.segments),
  original: row.original === null ? null : readSegments(row.original),
})

/** Transcripts of a submission by recording; empty unless the actor may read them. The caller authorizes the submission. */
export async function findTranscripts(ctx: Context, submissionId: string): Promise<Map<string, Transcript>> {
  if (!may(ctx, 'read_transcripts')) return new Map()
  const where = { organizationId: ctx.organization.id, media: { submissionId } }
  const rows = await ctx.db.transcript.findMany({ where })
  return new Map(rows.map((row) => [row.mediaId, toTranscript(row)]))
}

/**
 * Transcript of a recording that the actor may hear.
 *
 * @throws DomainError not_permitted; media_not_found, also without a transcript.
 */
export async function getTranscript(ctx: Context, mediaId: string): Promise<{ media: MediaFile; transcript: Transcript }> {
  authorize(ctx, 'read_transcripts')
  const media = await getMedia(ctx, mediaId)
  const row = await ctx.db.transcript.findFirst({ where: { organizationId: ctx.organization.id, mediaId } })
  if (!row) throw new DomainError('media_not_found')
  return { media, transcript: toTranscript(row) }
}
