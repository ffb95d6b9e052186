import type { TranscriptSegment } from '../../ports/transcriber.ts'
import { findRecordingProblem, findSilences } from '../media/levels.ts'

/** Measured recording. @property levels null if they are unknown. */
type Measured = { levels: Uint8Array | null; milliseconds: number }

/** True if the recording is silent. Models invent sentences for silence. */
export const isSilent = (recording: Measured): boolean => findRecordingProblem(recording) === 'silent'

/** Leaves out segments without sound. */
export function dropSilent(segments: readonly TranscriptSegment[], levels: Uint8Array | null): TranscriptSegment[] {
  const silences = levels ? findSilences(levels) : []
  return segments.filter(
    ({ startMs, endMs }) =>
      startMs === null || endMs === null || !silences.some(({ from, to }) => from <= startMs && endMs <= to),
  )
}
