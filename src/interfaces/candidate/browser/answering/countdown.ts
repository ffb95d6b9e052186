import { setText } from '../../../../http/browser/dom.ts'
import { formatClock } from '../../../../http/browser/format-clock.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { announceTimeLeft } from './time-left.ts'

const EVERY_MS = 250

type CountdownEvents = { say: (text: string) => void; soon?: () => void; over: () => void }

/**
 * Counts down to a time of the server.
 *
 * @param until in milliseconds of `performance.now()`, which is independent of the device's clock; read each time, because it is corrected.
 * @param events.soon called shortly before the end. @param events.over called at the end. @returns a function that stops it.
 */
export function countDown(
  t: BrowserTexts,
  element: HTMLElement,
  label: 'clock.whole' | 'clock.section' | 'clock.question' | 'clock.preparation',
  until: () => number,
  events: CountdownEvents,
): () => void {
  let before = Number.POSITIVE_INFINITY
  let wasSoon = false
  const tick = () => {
    const millisecondsLeft = Math.max(0, until() - performance.now())
    setText(element, t.text(label, { time: formatClock(millisecondsLeft) }))
    element.classList.toggle('text-error', millisecondsLeft < 30_000)
    const words = announceTimeLeft(t, before, millisecondsLeft)
    if (words) events.say(words)
    before = millisecondsLeft
    if (millisecondsLeft <= 2_500 && !wasSoon) events.soon?.()
    wasSoon = millisecondsLeft <= 2_500
    if (millisecondsLeft > 0) return
    clearInterval(timer)
    events.over()
  }
  const timer = setInterval(tick, EVERY_MS)
  tick()
  return () => clearInterval(timer)
}
