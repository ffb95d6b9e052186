// State machine of a recording and its upload, without network access; outbox.ts executes its effects.

import { SLICE_SECONDS } from '../../../../domain/limits.ts'
import type { PartKey } from './part-store.ts'

type Part = Omit<PartKey, 'mediaId'>

export type Recording = {
  readonly mediaId: string
  readonly kind: string
  /** Time until which parts are sent, in milliseconds of `performance.now()`. Extra time moves it. */
  readonly until: number
  /** Number of parts per segment. */
  readonly segments: readonly number[]
  /** Parts from the first one that the service does not have, in order. `lost`: the browser no longer has it either. */
  readonly parts: readonly (Part & { end: number; is: 'waiting' | 'saved' | 'lost' })[]
  /** Milliseconds recorded, and milliseconds that the service has without gaps. */
  readonly recorded: number
  readonly saved: number
  /** `interrupted`: recording has stopped and can be continued. */
  readonly state: 'recording' | 'interrupted' | 'sending' | 'completing' | 'saved' | 'failed'
  /** Reason why the recording failed, or why a saved recording is incomplete. */
  readonly failure: string
}

/** A recording with the parts that the service has. */
export type Upload = {
  mediaId: string
  kind: string
  /** Files have a name, and the number of the question they answer. */
  fileName?: string | null
  questionNumber?: number | null
  segments: { segment: number; parts: number[] }[]
}

export type RecordingEvent =
  /** @property end milliseconds of the recording up to the end of the part. */
  | { is: 'recorded'; segment: number; end: number }
  | { is: 'partSaved' | 'partLost'; part: Part }
  /** The recording was stopped. */
  | { is: 'ended' }
  | { is: 'interrupted' | 'continued' }
  | { is: 'completed' }
  /** The service finally refused a part, or the completion. */
  | { is: 'refused'; code: string }

/** `settle`: delete the stored parts, because the upload is complete or has failed. */
export type Effect = 'complete' | 'completeWithGaps' | 'abandon' | 'settle'

export const beginRecording = (mediaId: string, kind: string, until: number): Recording => {
  return { mediaId, kind, until, segments: [], parts: [], recorded: 0, saved: 0, state: 'recording', failure: '' }
}

/**
 * Resumes a recording of an earlier page. Its length is computed from the number of slices.
 *
 * @param storedParts parts of all recordings stored in the browser.
 */
export function resumeRecording({ mediaId, kind, segments: sent }: Upload, storedParts: PartKey[], until: number): Recording {
  const sentParts = sent.flatMap(({ segment, parts }) => parts.map((number) => ({ segment, number })))
  const isSent = ({ segment, number }: Part) => sentParts.some((part) => part.segment === segment && part.number === number)
  const missing = storedParts.filter((part) => part.mediaId === mediaId && !isSent(part))
  const segments: number[] = []
  for (const { segment, number } of [...sentParts, ...missing]) segments[segment] = Math.max(segments[segment] ?? 0, number + 1)
  const inOrder = [...sentParts, ...missing].sort((a, b) => a.segment - b.segment || a.number - b.number)
  const timed = inOrder.map((part, place) => ({ ...part, end: (place + 1) * SLICE_SECONDS * 1_000 }))
  const firstMissing = timed.findIndex((part) => !isSent(part))
  const parts =
    firstMissing === -1 ? [] : timed.slice(firstMissing).map((part) => ({ ...part, is: isSent(part) ? SAVED : WAITING }))
  const saved = timed[(firstMissing === -1 ? timed.length : firstMissing) - 1]?.end ?? 0
  return { ...beginRecording(mediaId, kind, until), segments, parts, saved, recorded: timed.at(-1)?.end ?? 0 }
}

const [SAVED, WAITING] = ['saved', 'waiting'] as const

export const countSlices = ({ segments }: Pick<Recording, 'segments'>): number =>
  segments.reduce((sum, count) => sum + (count ?? 0), 0)

/** @returns the new state, and the effect to execute. */
export function advance(before: Recording, event: RecordingEvent): [Recording, Effect?] {
  const isOver = before.state === 'saved' || before.state === 'failed'
  if (event.is === 'recorded') return [isOver ? { ...record(before, event), parts: [] } : record(before, event)]
  if (isOver) return [before]
  if (event.is === 'refused') return refuse(before, event.code)
  if (event.is === 'completed') return conclude(before)
  const after = 'part' in event ? settlePart(before, event) : move(before, event.is)
  if (after.state !== 'sending' || after.parts.some(({ is }) => is === 'waiting')) return [after]
  return [{ ...after, state: 'completing' }, after.segments.length === 0 ? 'abandon' : 'complete']
}

function record(before: Recording, { segment, end }: { segment: number; end: number }): Recording {
  const segments = [...before.segments]
  const number = segments[segment] ?? 0
  segments[segment] = number + 1
  return { ...before, segments, recorded: end, parts: [...before.parts, { segment, number, end, is: 'waiting' }] }
}

function move(before: Recording, change: 'ended' | 'interrupted' | 'continued'): Recording {
  if (before.state !== 'recording' && before.state !== 'interrupted') return before
  return { ...before, state: ({ ended: 'sending', interrupted: 'interrupted', continued: 'recording' } as const)[change] }
}

function settlePart(before: Recording, { is, part }: { is: 'partSaved' | 'partLost'; part: Part }): Recording {
  const partState = is === 'partSaved' ? 'saved' : 'lost'
  const isSamePart = ({ segment, number }: Part) => segment === part.segment && number === part.number
  const parts = before.parts.map((known) => (isSamePart(known) ? ({ ...known, is: partState } as const) : known))
  const firstUnsaved = parts.findIndex((known) => known.is !== 'saved')
  const savedCount = firstUnsaved === -1 ? parts.length : firstUnsaved
  return { ...before, parts: parts.slice(savedCount), saved: parts[savedCount - 1]?.end ?? before.saved }
}

/** After the deadline the service completes the recording with the parts it has. */
function refuse(before: Recording, code: string): [Recording, Effect] {
  const isCompleting = before.state === 'completing'
  if (isCompleting && (code === 'closed' || code === 'submitted')) return conclude(before)
  if (isCompleting && code === 'parts_missing' && before.failure === '') return [{ ...before, failure: code }, 'completeWithGaps']
  return [{ ...before, state: 'failed', failure: code }, 'settle']
}

const conclude = (before: Recording): [Recording, Effect] =>
  before.segments.length === 0
    ? [{ ...before, state: 'failed', failure: 'empty' }, 'settle']
    : [{ ...before, state: 'saved' }, 'settle']
