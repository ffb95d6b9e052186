import type { BrowserTexts } from '../../../../locales/texts.ts'

/** When what is left is said aloud, in seconds. */
const SAID_AT = [60, 30, 10]

/**
 * Announcement of the remaining time for screen readers; empty if none is due.
 *
 * @param before remaining milliseconds at the last call; Infinity at first. @param left remaining milliseconds now.
 */
export function sayTimeLeft(t: BrowserTexts, before: number, left: number): string {
  const isCrossed = SAID_AT.some((seconds) => left <= seconds * 1_000 && before > seconds * 1_000)
  const seconds = Math.ceil(left / 1_000)
  return isCrossed && seconds > 0 ? t.text('clock.said', { seconds }) : ''
}
