import { html } from '../../html/html.ts'
import { compared, type Sheet } from '../sheet.ts'
import { wordOption } from '../word-option.ts'
import { ordered } from './candidate.ts'
import { verdictOf } from './rules.ts'
import type { Answer, Key, Spec } from './schema.ts'

/** The prompts in the order in which the candidate saw them: what was chosen, and what fits where that is something else. */
export const matchingSheet: Sheet = ({ spec, key, shown, value }) => {
  const { prompts, choices } = spec as Spec
  const { pairs } = key as Key
  const chosen = (value ?? {}) as Answer
  const word = (id: string | undefined) => wordOption(choices.find((choice) => choice.id === id)?.text ?? '')
  return html`<ul>
${ordered(prompts, shown).map(({ id, text }) => {
  const verdict = verdictOf(pairs[id], chosen[id])
  const said = chosen[id] === undefined ? 'nothing chosen' : word(chosen[id])
  return compared(`${wordOption(text)} → ${said}`, verdict, verdict === 'right' ? '' : `(${word(pairs[id])} fits)`)
})}</ul>`
}
