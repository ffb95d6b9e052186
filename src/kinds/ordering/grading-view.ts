import { html } from '../../html/html.ts'
import { formatOption } from '../format-option.ts'
import { comparisonItem, type GradingView } from '../grading-view.ts'
import { verdictOf } from './rules.ts'
import type { Answer, Key, Spec } from './schema.ts'

/** Items in the right order, each with its chosen place if that differs. */
export const orderingGradingView: GradingView = ({ spec, key, value }) => {
  const { items } = spec as Spec
  const places = (value ?? {}) as Answer
  return html`<ul>
${(key as Key).order.map((id, i) => {
  const verdict = verdictOf(i + 1, places[id])
  const chosen = places[id] === undefined ? '(no place chosen)' : verdict === 'right' ? '' : `(placed ${places[id]})`
  return comparisonItem(`${i + 1}. ${formatOption(items.find((item) => item.id === id)?.text ?? '')}`, verdict, chosen)
})}</ul>`
}
