import { make, setNotice } from '../../../../http/browser/dom.ts'
import { Refusal } from '../session/session.ts'

/** A step before the start. */
export type Step = {
  element: HTMLElement
  close: () => void
}

/** What a step that is passed has met: as the service names it. */
export type Report = (passed: string[]) => Promise<void>

/** A step's frame: what it is, whether it is passed, and what is in it. */
export function makeStep(title: string, explanation: string, isPassed: boolean, ...content: Node[]) {
  const heading = make('h3', { id: `step-${title.toLowerCase().replaceAll(/\W+/g, '-')}` }, title)
  const result = make('p', { class: 'result text-sm font-medium', role: 'status' })
  const element = make(
    'section',
    { class: 'panel step mt-3', 'aria-labelledby': heading.id },
    heading,
    result,
    make('p', {}, explanation),
    ...content,
  )
  const mistake = make('p', { class: 'mistake', role: 'alert', hidden: true })
  element.append(mistake)
  const setPassed = (is: boolean, text = is ? 'Done' : 'To do') => {
    element.classList.toggle('passed', is)
    result.classList.toggle('text-success', is)
    result.textContent = text
  }
  setPassed(isPassed)
  return { element, setPassed, fail: (text: string) => setNotice(mistake, text) }
}

export const wordUnsent = (error: unknown): string =>
  error instanceof Refusal && error.code === 'unreachable'
    ? 'There is no connection. Try again.'
    : 'That could not be sent. Load this page again.'
