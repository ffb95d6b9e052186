import { normalize } from '../normalize.ts'
import type { Key, Spec } from './schema.ts'

/** @property prompt empty: the choice fits none. */
type Row = { id: string; prompt: string; choice: string }

const byText = new Intl.Collator('en', { numeric: true })

/**
 * What rows of a prompt and its choice say. Choices are in alphabetical order: that of the rows would say what fits.
 *
 * @param newId of a choice by its text as it is compared: several rows may have the same.
 */
export function pairUp(rows: Row[], newId: (text: string) => string): Pick<Spec, 'prompts' | 'choices'> & { key: Key } {
  const choices = new Map<string, { id: string; text: string }>()
  for (const { choice } of rows) {
    const compared = normalize(choice)
    if (choice !== '' && !choices.has(compared)) choices.set(compared, { id: newId(compared), text: choice })
  }
  const asked = rows.filter(({ prompt }) => prompt !== '')
  const fitting = asked.flatMap(({ id, choice }) => (choice === '' ? [] : [[id, choices.get(normalize(choice))!.id]]))
  return {
    prompts: asked.map(({ id, prompt: text }) => ({ id, text })),
    choices: [...choices.values()].sort((one, other) => byText.compare(one.text, other.text)),
    key: { pairs: Object.fromEntries(fitting) },
  }
}

/** The way back: those without an id fit none. */
export function splitPairs({ prompts, choices }: Spec, { pairs }: Key): { id?: string; prompt: string; choice: string }[] {
  const fitting = Object.values(pairs)
  const others = choices.filter(({ id }) => !fitting.includes(id))
  return [
    ...prompts.map(({ id, text }) => ({ id, prompt: text, choice: choices.find((one) => one.id === pairs[id])?.text ?? '' })),
    ...others.map(({ text }) => ({ prompt: '', choice: text })),
  ]
}
