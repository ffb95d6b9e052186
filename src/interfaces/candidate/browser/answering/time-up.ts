import { createButton, createElement, setText } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'

const WAIT_SECONDS = 10
const REFRESH_MS = 250

/**
 * Replaces the question with a notice that its time is up, until the candidate continues or {@link WAIT_SECONDS} have passed. Meanwhile only
 * the clock of the whole assessment runs.
 *
 * @param formatSaved describes the state of the answer, read again while a recording is uploaded. @param counts name of the attempt that counts;
 * empty for none. @param isLeft true once another page is shown.
 */
export async function showTimeUp(
  t: BrowserTexts,
  section: HTMLElement,
  { formatSaved, counts, isLeft }: { formatSaved: () => string; counts: string; isLeft: () => boolean },
): Promise<void> {
  const until = performance.now() + WAIT_SECONDS * 1_000
  let isContinued = false
  const goOn = () => {
    isContinued = true
  }
  const heading = createElement('h2', { id: 'question-heading', class: 'text-2xl', tabindex: '-1' })
  const saved = createElement('p', { class: 'text-lg', role: 'status' })
  const waiting = createElement('p', { class: 'hint' })
  const panel = createElement(
    'div',
    { class: 'panel flex flex-col items-center gap-3 p-8 text-center', 'data-time-up': true },
    ...[heading, saved, counts ? createElement('p', {}, t.text('over.counts', { answer: counts })) : null],
    createButton(t.text('over.continue'), goOn, 'btn btn-primary btn-lg mt-3'),
    waiting,
  )
  setText(heading, t.text('over.heading'))
  section.replaceChildren(panel)
  heading.focus({ preventScroll: true })
  window.scrollTo(0, 0)
  await new Promise<void>((resolve) => {
    const show = () => {
      const secondsLeft = Math.ceil((until - performance.now()) / 1_000)
      setText(saved, formatSaved())
      setText(waiting, t.text('over.waiting', { seconds: Math.max(secondsLeft, 0) }))
      if (secondsLeft > 0 && !isContinued && !isLeft()) return
      clearInterval(timer)
      resolve()
    }
    const timer = setInterval(show, REFRESH_MS)
    show()
  })
}
