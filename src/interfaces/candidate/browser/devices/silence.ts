const SILENCE_MS = 2_500
/** Level of the loudest sample, from 0 to 1. */
const SILENT_BELOW = 0.02

export const isSound = (loudness: number): boolean => loudness >= SILENT_BELOW

/** `silent` after 2.5 seconds without a sound, `heard` at each sound, else null. */
export type SilenceChange = 'silent' | 'heard' | null

/**
 * Detects silence. A meter that does not run, as in Firefox without an audio output, does not count as silent.
 *
 * @param began milliseconds. @returns a function that takes measurements: the time, if the meter runs, and the loudness from 0 to 1.
 */
export function listenForSilence(began: number): (now: number, isRunning: boolean, loudness: number) => SilenceChange {
  let since = began
  let isSilent = false
  return (now, isRunning, loudness) => {
    if (!isRunning || isSound(loudness)) since = now
    if (!isRunning) return null
    if (isSound(loudness)) {
      isSilent = false
      return 'heard'
    }
    if (isSilent || now - since <= SILENCE_MS) return null
    isSilent = true
    return 'silent'
  }
}
