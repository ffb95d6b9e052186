import type { BrowserTexts } from '../../../../locales/texts.ts'

/** Seconds left at which the time is announced to screen readers. */
const SAID_AT = [60, 30, 10]

/**
 * Announcement of the remaining time for screen readers; empty if none is due.
 *
 * @param before remaining milliseconds at the last call; Infinity at first. @param secondsLeft remaining milliseconds now.
 */
export function announceTimeLeft(t: BrowserTexts, before: number, secondsLeft: number): string {
  const isCrossed = SAID_AT.some((seconds) => secondsLeft <= seconds * 1_000 && before > seconds * 1_000)
  const seconds = Math.ceil(secondsLeft / 1_000)
  return isCrossed && seconds > 0 ? t.text('clock.said', { seconds }) : ''
}
