import { html } from '../../html/html.ts'
import { compared, type Sheet } from '../sheet.ts'
import { wordOption } from '../word-option.ts'
import { ordered } from './candidate.ts'
import { verdictOf } from './rules.ts'
import type { Answer, Key, Spec } from './schema.ts'

/** Prompts in the candidate's order with the chosen and, if it differs, the right choice. */
export const matchingSheet: Sheet = ({ spec, key, shown, value }) => {
  const { prompts, choices } = spec as Spec
  const { pairs } = key as Key
  const chosen = (value ?? {}) as Answer
  const textOf = (id: string | undefined) => wordOption(choices.find((choice) => choice.id === id)?.text ?? '')
  return html`<ul>
${ordered(prompts, shown).map(({ id, text }) => {
  const verdict = verdictOf(pairs[id], chosen[id])
  const answer = chosen[id] === undefined ? 'nothing chosen' : textOf(chosen[id])
  return compared(`${wordOption(text)} → ${answer}`, verdict, verdict === 'right' ? '' : `(${textOf(pairs[id])} fits)`)
})}</ul>`
}
