import { setText } from '../../../../http/browser/dom.ts'
import { readNumber } from '../../../../kinds/number/read-number.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'

/** Shows below a number field how the text is read. @returns a function to update it after filling in the field. */
export function showReading(t: BrowserTexts, fields: HTMLElement): () => void {
  const field = fields.querySelector<HTMLInputElement>('[data-number]')
  const line = fields.querySelector<HTMLElement>('[data-reading]')
  if (!field || !line) return () => {}
  const say = () => setText(line, formatReading(t, field.value))
  field.addEventListener('input', say)
  return say
}

function formatReading(t: BrowserTexts, typed: string): string {
  if (typed.trim() === '') return ''
  const [number, alternative] = readNumber(typed)
  if (number === undefined) return t.text('number.none')
  return alternative === undefined
    ? t.text('number.read', { number })
    : t.text('number.ambiguous', { one: number, other: alternative })
}
