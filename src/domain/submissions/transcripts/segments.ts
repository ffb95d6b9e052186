import type { Prisma } from '../../../generated/prisma/client.ts'
import type { TranscriptSegment } from '../../ports/transcriber.ts'

type StoredSegment = [startMs: number | null, endMs: number | null, text: string, isUncertain: 0 | 1]

export const storeSegments = (segments: readonly TranscriptSegment[]): Prisma.InputJsonValue =>
  segments.map(
    ({ startMs, endMs, text, isUncertain }): StoredSegment => [startMs, endMs, text, isUncertain ? 1 : 0],
  ) as Prisma.InputJsonArray

export const readSegments = (stored: Prisma.JsonValue): TranscriptSegment[] =>
  (stored as unknown as StoredSegment[]).map(([startMs, endMs, text, isUncertain]) => ({
    startMs,
    endMs,
    text,
    isUncertain: isUncertain === 1,
  }))

export const joinText = (segments: readonly TranscriptSegment[]): string => segments.map(({ text }) => text).join('\n')

/** Makes times rise and lie within the recording. Empty segments are left out. */
export function fitSegments(segments: readonly TranscriptSegment[], milliseconds: number): TranscriptSegment[] {
  let earliest = 0
  const clamp = (ms: number) => Math.min(Math.max(Math.round(ms), earliest), milliseconds)
  return segments.flatMap(({ startMs, endMs, text, isUncertain }): TranscriptSegment[] => {
    const words = text.trim()
    if (words === '') return []
    if (startMs === null || endMs === null) return [{ startMs: null, endMs: null, text: words, isUncertain }]
    const start = clamp(startMs)
    const end = Math.max(start, clamp(endMs))
    earliest = start
    return [{ startMs: start, endMs: end, text: words, isUncertain }]
  })
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23)
const escapeCue = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Captions as WebVTT. Segments without times are left out. @see https://www.w3.org/TR/webvtt1/ */
export const toWebVtt = (segments: readonly TranscriptSegment[]): string =>
  [
    'WEBVTT\n',
    ...segments.flatMap(({ startMs, endMs, text }) =>
      startMs === null || endMs === null
        ? []
        : `${clock(startMs)} --> ${clock(endMs)}\n${escapeCue(text.replaceAll(/\s+/g, ' '))}\n`,
    ),
  ].join('\n')
