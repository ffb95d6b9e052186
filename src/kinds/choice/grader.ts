import { html } from '../../html/html.ts'
import { compared, type Sheet } from '../sheet.ts'
import { wordOption } from '../word-option.ts'
import { rightOnes, verdictOf } from './rules.ts'
import type { Answer, Key, Spec } from './schema.ts'

/** Options in the candidate's order. */
export const choiceSheet: Sheet = ({ spec, key, shown, value }) => {
  const { options } = spec as Spec
  const ticked = (value ?? []) as Answer
  const ordered = shown.length > 0 ? shown.flatMap((id) => options.find((option) => option.id === id) ?? []) : options
  const right = rightOnes(key as Key)
  return html`<ul>
${ordered.map(({ id, text }) => {
  const isTicked = ticked.includes(id)
  return compared(wordOption(text), verdictOf(isTicked, right.includes(id)), isTicked ? '(ticked)' : '')
})}</ul>`
}
