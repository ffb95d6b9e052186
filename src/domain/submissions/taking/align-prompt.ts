import type { PromptTimings } from './prompt-timing.ts'

/** The last packet of sound, of 60 ms in Chromium, reaches beyond the stop: a segment may be so much longer than it was recorded. */
const PACKET_SLACK_MS = 40

/** Beyond this, the browser and the file contradict each other: the segment was cut, or the browser was very busy. */
const EXACT_MS = 300

/**
 * Part of a simultaneous answer, in milliseconds of the joined file, with the prompt that played meanwhile.
 *
 * @property promptAt time of the prompt at the beginning of the part; negative if it began later.
 * @property promptFrom time of the prompt at which it began to play.
 * @property isExact false if the measurement may be off by more than {@link EXACT_MS}.
 */
export type AlignedPart = { from: number; to: number; promptAt: number; promptFrom: number; isExact: boolean }

/**
 * Finds the time of the prompt for each segment of a joined recording.
 *
 * A segment begins at the recorder's start event, or earlier if it is longer than the time from that event to the stop: a busy browser learns
 * of the start too late.
 *
 * @param segmentEnds end of each segment in the file. @returns nothing for segments without a report.
 */
export function alignPrompt(timings: PromptTimings, segmentEnds: readonly number[]): AlignedPart[] {
  return segmentEnds.flatMap((to, segment) => {
    const from = segmentEnds[segment - 1] ?? 0
    const timing = timings[segment]
    if (!timing || to <= from) return []
    const difference = timing.elapsed === null ? null : to - from - timing.elapsed
    const surplus = Math.max(0, (difference ?? 0) - PACKET_SLACK_MS)
    const isExact = difference !== null && Math.abs(difference) <= EXACT_MS
    return [{ from, to, promptAt: Math.round(-timing.zero - surplus), promptFrom: timing.from, isExact }]
  })
}
