import type { Readable } from 'node:stream'
import { readAsset } from '../../assets/assets.ts'
import type { QueuedRef } from '../../concurrency/queued-ref.ts'
import type { ServiceContext } from '../../context.ts'
import type { Transcriber, TranscriptionFailure, TranscriptSegment } from '../../ports/transcriber.ts'
import { readMedia } from '../media/media.ts'
import { joinText, storeSegments } from './segments.ts'

/** Recorded answer, or a question's audio or video. */
export type SoundRef = QueuedRef & { isPrompt?: boolean | undefined }

export type TranscriptProblem = Exclude<TranscriptionFailure, 'unavailable'> | 'too_long'
export type Outcome =
  | { state: 'ready'; language: string; model: string; segments: TranscriptSegment[] }
  | { state: 'silent' }
  | { state: 'failed'; problem: TranscriptProblem }

/** Sound that waits to be sent. @property language that is spoken; null: unknown. @property levels null if they are unknown. */
export type QueuedSound = {
  contentType: string
  milliseconds: number
  language: string | null
  levels: Uint8Array | null
  readSound: () => Promise<Readable>
  /** Counts a fault that may be the recording's. @returns how many there were. */
  countFault: () => Promise<number>
  /** @returns false if it no longer waits. */
  complete: (outcome: Outcome) => Promise<boolean>
}

/** @returns null if it is gone, was sent already, or may no longer be sent. */
export const findQueuedSound = (system: ServiceContext, ref: SoundRef, transcriber: Transcriber): Promise<QueuedSound | null> =>
  ref.isPrompt ? findPrompt(system, ref, transcriber) : findAnswer(system, ref, transcriber)

/** The admin's agreement, the submission, and the recording still have to allow it. For a suspended organization it waits. */
async function findAnswer(system: ServiceContext, ref: SoundRef, { host }: Transcriber): Promise<QueuedSound | null> {
  const { db, deps } = system
  const { id: mediaId, organizationId } = ref
  const queued = { organizationId, mediaId, state: 'queued' }
  const found = await db.transcript.findUnique({
    where: { organizationId_mediaId: { organizationId, mediaId } },
    select: {
      state: true,
      media: {
        include: {
          attempts: { select: { question: { select: { targetLanguage: true } } } },
          submission: {
            select: {
              state: true,
              invite: { select: { organization: { select: { transcriptionHost: true, suspension: { select: { id: true } } } } } },
            },
          },
        },
      },
    },
  })
  if (found?.state !== 'queued') return null
  const { attempts, submission, ...media } = found.media
  const { transcriptionHost, suspension } = submission.invite.organization
  if (suspension) {
    await db.transcript.updateMany({ where: queued, data: { state: 'waiting' } })
    return null
  }
  const isAllowed = transcriptionHost === host && submission.state !== 'withdrawn' && media.state === 'ready'
  if (!isAllowed || media.milliseconds === null) {
    await db.transcript.deleteMany({ where: queued })
    return null
  }
  return {
    ...{ contentType: media.contentType, milliseconds: media.milliseconds, levels: media.levels },
    language: attempts[0]?.question.targetLanguage ?? null,
    readSound: () => readMedia(system, media),
    async countFault() {
      const data = { faults: { increment: 1 } }
      const [counted] = await db.transcript.updateManyAndReturn({ where: queued, data, select: { faults: true } })
      return counted?.faults ?? Infinity
    },
    async complete(outcome) {
      const words = outcome.state === 'ready' ? { text: joinText(outcome.segments) } : {}
      const data = { ...toColumns(outcome), ...words, completedAt: deps.clock() }
      return (await db.transcript.updateMany({ where: queued, data })).count > 0
    },
  }
}

/** The admin's agreement still has to allow it. Otherwise the author may ask again. */
async function findPrompt(system: ServiceContext, ref: SoundRef, { host }: Transcriber): Promise<QueuedSound | null> {
  const { db, deps } = system
  const { id: assetId, organizationId } = ref
  const found = await db.caption.findUnique({
    where: { organizationId_assetId: { organizationId, assetId } },
    select: {
      ...{ state: true, language: true, createdAt: true },
      asset: {
        include: { organization: { select: { transcriptionHost: true, suspension: { select: { id: true } } } } },
      },
    },
  })
  if (found?.state !== 'queued') return null
  const { organization, ...asset } = found.asset
  // Not a later request.
  const queued = { organizationId, assetId, state: 'queued', createdAt: found.createdAt }
  const isAllowed = organization.transcriptionHost === host && !organization.suspension && asset.state === 'ready'
  if (!isAllowed || asset.milliseconds === null) {
    await db.caption.deleteMany({ where: queued })
    return null
  }
  return {
    ...{ contentType: asset.contentType, milliseconds: asset.milliseconds, levels: null },
    language: found.language || null,
    readSound: () => readAsset(system, asset),
    async countFault() {
      const data = { faults: { increment: 1 } }
      const [counted] = await db.caption.updateManyAndReturn({ where: queued, data, select: { faults: true } })
      return counted?.faults ?? Infinity
    },
    async complete(outcome) {
      const data = { ...toColumns(outcome), completedAt: deps.clock() }
      return (await db.caption.updateMany({ where: queued, data })).count > 0
    },
  }
}

const toColumns = (outcome: Outcome) =>
  outcome.state === 'ready' ? { ...outcome, segments: storeSegments(outcome.segments) } : outcome
