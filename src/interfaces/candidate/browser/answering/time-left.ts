import type { BrowserTexts } from '../../../../locales/texts.ts'

/** When what is left is said aloud, in seconds. */
const SAID_AT = [60, 30, 10]

/**
 * What is said aloud of the time that is left; empty where nothing is.
 *
 * @param before milliseconds that were left when it was last asked; Infinity at first. @param left that are left now.
 */
export function sayTimeLeft(t: BrowserTexts, before: number, left: number): string {
  const isCrossed = SAID_AT.some((seconds) => left <= seconds * 1_000 && before > seconds * 1_000)
  const seconds = Math.ceil(left / 1_000)
  return isCrossed && seconds > 0 ? t.text('clock.said', { seconds }) : ''
}
