import { html } from '../../html/html.ts'
import { formatOption } from '../format-option.ts'
import { comparisonItem, type GradingView } from '../grading-view.ts'
import { orderChoices } from './candidate.ts'
import { verdictOf } from './rules.ts'
import type { Answer, Key, Spec } from './schema.ts'

/** Prompts in the candidate's order with the chosen and, if it differs, the right choice. */
export const matchingGradingView: GradingView = ({ spec, key, shown, value }) => {
  const { prompts, choices } = spec as Spec
  const { pairs } = key as Key
  const chosen = (value ?? {}) as Answer
  const textOf = (id: string | undefined) => formatOption(choices.find((choice) => choice.id === id)?.text ?? '')
  return html`<ul>
${orderChoices(prompts, shown).map(({ id, text }) => {
  const verdict = verdictOf(pairs[id], chosen[id])
  const answer = chosen[id] === undefined ? 'nothing chosen' : textOf(chosen[id])
  return comparisonItem(`${formatOption(text)} → ${answer}`, verdict, verdict === 'right' ? '' : `(${textOf(pairs[id])} fits)`)
})}</ul>`
}
