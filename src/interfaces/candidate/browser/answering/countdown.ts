import { setText } from '../../../../http/browser/dom.ts'
import { formatClock } from '../../../../http/browser/format-clock.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { sayTimeLeft } from './time-left.ts'

const EVERY_MS = 250

type On = { say: (text: string) => void; soon?: () => void; over: () => void }

/**
 * Counts down to a moment that the server has given.
 *
 * @param until in milliseconds of `performance.now()`, which runs whatever the device's clock is set to; asked each time, because it is
 *   corrected.
 * @param on.soon shortly before the end. @param on.over at the end.
 * @returns what ends it.
 */
export function countDown(
  t: BrowserTexts,
  element: HTMLElement,
  label: 'clock.whole' | 'clock.question' | 'clock.preparation',
  until: () => number,
  on: On,
): () => void {
  let before = Number.POSITIVE_INFINITY
  let wasSoon = false
  const tick = () => {
    const left = Math.max(0, until() - performance.now())
    setText(element, t.text(label, { time: formatClock(left) }))
    element.classList.toggle('text-error', left < 30_000)
    const words = sayTimeLeft(t, before, left)
    if (words) on.say(words)
    before = left
    if (left <= 2_500 && !wasSoon) on.soon?.()
    wasSoon = left <= 2_500
    if (left > 0) return
    clearInterval(timer)
    on.over()
  }
  const timer = setInterval(tick, EVERY_MS)
  tick()
  return () => clearInterval(timer)
}
