import { normalize } from '../../domain/text/normalize.ts'
import type { Key, Spec } from './schema.ts'

/** @property prompt empty for a distractor. */
type Row = { id: string; prompt: string; choice: string }

const byText = new Intl.Collator('en', { numeric: true })

/**
 * Converts rows to prompts, choices, and key. Choices are sorted alphabetically, because the order of the rows would reveal the key.
 *
 * @param newId returns the id of a choice by its normalized text. Rows with the same text share a choice.
 */
export function pairUp(rows: Row[], newId: (text: string) => string): Pick<Spec, 'prompts' | 'choices'> & { key: Key } {
  const choices = new Map<string, { id: string; text: string }>()
  for (const { choice } of rows) {
    const normalized = normalize(choice)
    if (choice !== '' && !choices.has(normalized)) choices.set(normalized, { id: newId(normalized), text: choice })
  }
  const prompted = rows.filter(({ prompt }) => prompt !== '')
  const fitting = prompted.flatMap(({ id, choice }) => (choice === '' ? [] : [[id, choices.get(normalize(choice))!.id]]))
  return {
    prompts: prompted.map(({ id, prompt: text }) => ({ id, text })),
    choices: [...choices.values()].sort((one, other) => byText.compare(one.text, other.text)),
    key: { pairs: Object.fromEntries(fitting) },
  }
}

/** The reverse of {@link pairUp}. Rows without an id are distractors. */
export function splitPairs({ prompts, choices }: Spec, { pairs }: Key): { id?: string; prompt: string; choice: string }[] {
  const fitting = Object.values(pairs)
  const unmatched = choices.filter(({ id }) => !fitting.includes(id))
  return [
    ...prompts.map(({ id, text }) => ({
      id,
      prompt: text,
      choice: choices.find((choice) => choice.id === pairs[id])?.text ?? '',
    })),
    ...unmatched.map(({ text }) => ({ prompt: '', choice: text })),
  ]
}
