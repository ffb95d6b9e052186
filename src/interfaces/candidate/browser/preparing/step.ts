import { make, setNotice } from '../../../../http/browser/dom.ts'
import type { CheckTexts } from '../../../../locales/texts.ts'
import type { Player } from '../session/player.ts'
import { Refusal } from '../session/session.ts'

/** What a step is given: it says texts of its own. */
export type Preparing = Omit<Player, 't'> & { t: CheckTexts }

/** A step before the start. */
export type Step = {
  element: HTMLElement
  close: () => void
}

/** What a step that is passed has met: as the service names it. */
export type Report = (passed: string[]) => Promise<void>

/** A step's frame: what it is, whether it is passed, and what is in it. */
export function makeStep(
  t: CheckTexts,
  { name, title, text, isPassed }: { name: string; title: string; text: string; isPassed: boolean },
  ...content: Node[]
) {
  const heading = make('h3', { id: `step-${name}` }, title)
  const result = make('p', { class: 'result text-sm font-medium', role: 'status' })
  const element = make(
    'section',
    { class: 'panel step mt-3', 'aria-labelledby': heading.id },
    heading,
    result,
    make('p', {}, text),
    ...content,
  )
  const mistake = make('p', { class: 'mistake', role: 'alert', hidden: true })
  element.append(mistake)
  const setPassed = (is: boolean, text = t.text(is ? 'step.done' : 'step.to_do')) => {
    element.classList.toggle('passed', is)
    result.classList.toggle('text-success', is)
    result.textContent = text
  }
  setPassed(isPassed)
  return { element, setPassed, fail: (text: string) => setNotice(mistake, text) }
}

export const wordUnsent = (t: CheckTexts, error: unknown): string =>
  t.text(error instanceof Refusal && error.code === 'unreachable' ? 'step.unreachable' : 'step.unsent')
