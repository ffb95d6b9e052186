import { MAX_ANSWER_LENGTH } from '../../../../domain/limits.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'

/** Counts like the service: characters, not UTF-16 units. */
const countCharacters = (text: string): number => [...text].length

export const isTooLong = (text: string): boolean => countCharacters(text) > MAX_ANSWER_LENGTH

/** Cuts a text at the maximum length. */
export const cutText = (text: string): string => (isTooLong(text) ? [...text].slice(0, MAX_ANSWER_LENGTH).join('') : text)

/** Length of a text, and its limit. */
export function formatLength(t: BrowserTexts, text: string): string {
  const count = countCharacters(text)
  return t.text(count > MAX_ANSWER_LENGTH ? 'text.too_long' : 'text.length', { count, limit: MAX_ANSWER_LENGTH })
}

/** Message about a text that is too long. */
export const formatTooLong = (t: BrowserTexts): string => t.text('text.cut', { limit: MAX_ANSWER_LENGTH })
