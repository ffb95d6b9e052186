import { html } from '../../html/html.ts'
import type { CandidateTexts } from '../../locales/languages.ts'
import type { Control } from '../control.ts'
import { readNumber } from './read-number.ts'
import type { Spec } from './schema.ts'

/** A text field with a numeric keyboard. A field of type `number` would drop invalid input silently, and change with the mouse wheel. */
export const numberControl: Control = (t, { version, value }) => {
  const { unit } = version.spec as Spec
  return html`<fieldset class="mt-6" data-fields><label for="answer" class="block font-medium">${t.text('question.answer')}</label>
<span class="mt-1 flex items-center gap-2"><input id="answer" class="input text-base" type="text" inputmode="decimal" autocomplete="off" name="answer" value="${(value ?? '') as string}" maxlength="100" aria-describedby="${unit ? 'unit reading' : 'reading'}" data-number>${unit && html`<span id="unit" dir="auto">${unit}</span>`}</span>
<p class="hint" id="reading" role="status" data-reading>${formatReading(t, (value ?? '') as string)}</p></fieldset>`
}

/** Tells the candidate how the number is understood. Empty for an empty field. */
function formatReading(t: CandidateTexts, typed: string): string {
  if (typed.trim() === '') return ''
  const [number, otherReading] = readNumber(typed)
  if (number === undefined) return t.text('number.none')
  return otherReading === undefined
    ? t.text('number.read', { number })
    : t.text('number.ambiguous', { one: number, other: otherReading })
}
