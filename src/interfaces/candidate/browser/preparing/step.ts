import { createElement, setNotice } from '../../../../http/browser/dom.ts'
import type { CheckTexts } from '../../../../locales/texts.ts'
import type { Player } from '../session/player.ts'
import { Refusal } from '../session/session.ts'

export type Preparation = Omit<Player, 't'> & {
  t: CheckTexts
  /** @param stays true to keep the step unfolded, because the candidate should look at its content. */
  changed: (step: HTMLElement, stays: boolean) => void
}

/** A step before the start. */
export type Step = {
  element: HTMLElement
  /** Opens or folds the step. @param number shown if the step is not passed yet. */
  show: (isOpen: boolean, number: number) => void
  isPassed: () => boolean
  hasMistake: () => boolean
  close: () => void
}

/** Reports the checks that a passed step satisfied, by the service's names. */
export type Report = (passed: string[]) => Promise<void>

type StepFacts = { name: string; title: string; text: string; isPassed: boolean }

/** A step with its title, status, and foldable content. */
export function createStep({ t, changed }: Preparation, { name, title, text, isPassed }: StepFacts, ...content: Node[]) {
  const mark = createElement('span', { class: MARK, 'aria-hidden': 'true' })
  const heading = createElement('h3', { id: `step-${name}`, class: 'm-0' }, title)
  const summary = createElement('summary', { class: 'flex items-center gap-3 [&::-webkit-details-marker]:hidden' }, mark, heading)
  const mistake = createElement('p', { class: 'mistake', role: 'alert', hidden: true })
  const details = createElement(
    'details',
    {},
    summary,
    createElement('div', { class: 'mt-3 sm:ms-10' }, createElement('p', {}, text), ...content, mistake),
  )
  const result = createElement('p', { class: 'result mt-1 ms-10 text-sm font-medium', role: 'status' })
  const element = createElement('section', { class: 'panel step mt-3 p-4', 'aria-labelledby': heading.id }, details, result)

  function setPassed(hasPassed: boolean, resultText = t.text(hasPassed ? 'step.done' : 'step.to_do'), stays = false): void {
    element.classList.toggle('passed', hasPassed)
    for (const className of ['text-success', 'quiet'])
      result.classList.toggle(className, hasPassed === (className === 'text-success'))
    result.textContent = resultText
    changed(element, stays)
  }

  function show(isOpen: boolean, number: number): void {
    details.open = isOpen
    const hasPassed = element.classList.contains('passed')
    mark.textContent = hasPassed ? '✓' : String(number)
    mark.classList.toggle('bg-success', hasPassed)
    mark.classList.toggle('text-success-content', hasPassed)
  }

  setPassed(isPassed)
  return {
    setPassed,
    fail: (text: string) => setNotice(mistake, text),
    step: { element, show, isPassed: () => element.classList.contains('passed'), hasMistake: () => !mistake.hidden },
  }
}

const MARK = 'grid size-7 shrink-0 place-items-center rounded-full border border-base-300 text-sm font-semibold'

export const formatSendFailure = (t: CheckTexts, error: unknown): string =>
  t.text(error instanceof Refusal && error.code === 'unreachable' ? 'step.unreachable' : 'step.unsent')
