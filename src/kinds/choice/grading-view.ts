import { html } from '../../html/html.ts'
import { formatOption } from '../format-option.ts'
import { comparisonItem, type GradingView } from '../grading-view.ts'
import { rightOptions, verdictOf } from './rules.ts'
import type { Answer, Key, Spec } from './schema.ts'

/** Options in the candidate's order. */
export const choiceGradingView: GradingView = ({ spec, key, shown, value }) => {
  const { options } = spec as Spec
  const ticked = (value ?? []) as Answer
  const ordered = shown.length > 0 ? shown.flatMap((id) => options.find((option) => option.id === id) ?? []) : options
  const right = rightOptions(key as Key)
  return html`<ul>
${ordered.map(({ id, text }) => {
  const isTicked = ticked.includes(id)
  return comparisonItem(formatOption(text), verdictOf(isTicked, right.includes(id)), isTicked ? '(ticked)' : '')
})}</ul>`
}
