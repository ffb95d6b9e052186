/** Loudness of a recording over time: the peak of each {@link LEVEL_MS}, as a byte on a logarithmic scale. */
export type Levels = Uint8Array<ArrayBuffer>

/** Measures the sound of a file. @returns null if there is no decoder for it. @throws Error if it can't be decoded. */
export type MeasureLevels = (file: string) => Promise<Levels | null>

export const LEVEL_MS = 100
/** The lowest byte is this many decibels below full scale. */
const RANGE_DB = 60
const TOP = 255

/** Peaks from this share of full scale are sound, as in the device check. */
const SOUND_FROM = 0.02
const QUIET_BELOW = 0.05
/** Pauses as long as these are silences. */
const SILENCE_MS = 2_500
/** A recording with less sound than this has no speech: a click or a bump. */
const MIN_SPEECH_MS = 300
const SHORT_MS = 2_000
/** Share of the sounding levels at full scale from which a recording is distorted. */
const CLIPPED_SHARE = 0.1
/** Loudness of a recording is the level that this share of its sounding levels does not exceed. */
const LOUD_SHARE = 0.95

/** @param peak from 0 to 1; decoders may exceed 1. */
export function encodeLevel(peak: number): number {
  if (peak <= 0) return 0
  const decibels = 20 * Math.log10(peak)
  return Math.min(TOP, Math.max(0, Math.round((1 + decibels / RANGE_DB) * TOP)))
}

/** @returns a peak from 0 to 1. */
export const decodeLevel = (level: number): number => (level === 0 ? 0 : 10 ** (((level / TOP - 1) * RANGE_DB) / 20))

const SOUND_LEVEL = encodeLevel(SOUND_FROM)
const QUIET_LEVEL = encodeLevel(QUIET_BELOW)

/** A stretch without sound, in milliseconds. */
export type Silence = { from: number; to: number }

/** Silences of at least 2.5 seconds. */
export function findSilences(levels: Uint8Array): Silence[] {
  const silences: Silence[] = []
  let from = 0
  for (let i = 0; i <= levels.length; i++) {
    if (i < levels.length && levels[i]! < SOUND_LEVEL) continue
    if ((i - from) * LEVEL_MS >= SILENCE_MS) silences.push({ from: from * LEVEL_MS, to: i * LEVEL_MS })
    from = i + 1
  }
  return silences
}

/** @param from milliseconds. @returns when the first sound begins, in milliseconds of the recording; null if there is none. */
export function findFirstSound(levels: Uint8Array, from: number): number | null {
  const first = Math.max(0, Math.ceil(from / LEVEL_MS))
  const needed = MIN_SPEECH_MS / LEVEL_MS
  for (let i = first; i < levels.length; i++) {
    const next = levels.subarray(i, i + needed)
    if (next.every((level) => level >= SOUND_LEVEL)) return i * LEVEL_MS
  }
  return null
}

/** Reason why a recorded answer may be unfit for grading. */
export type RecordingProblem = 'silent' | 'short' | 'quiet' | 'clipped'

/** The worst problem of a recorded answer; null if it has none, or if its levels are unknown. */
export function findRecordingProblem(recording: {
  levels: Uint8Array | null
  milliseconds: number | null
}): RecordingProblem | null {
  const { levels, milliseconds } = recording
  if (levels === null) return null
  const sounding = levels.filter((level) => level >= SOUND_LEVEL).sort()
  if (sounding.length * LEVEL_MS < MIN_SPEECH_MS) return 'silent'
  if (milliseconds !== null && milliseconds < SHORT_MS) return 'short'
  if (sounding[Math.floor(sounding.length * LOUD_SHARE)]! < QUIET_LEVEL) return 'quiet'
  const clipped = sounding.filter((level) => level === TOP).length
  return clipped >= sounding.length * CLIPPED_SHARE ? 'clipped' : null
}
