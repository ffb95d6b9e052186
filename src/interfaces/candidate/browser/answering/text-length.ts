import { MAX_ANSWER_LENGTH } from '../../../../domain/limits.ts'

/** From how many characters on they are counted for the candidate. */
const COUNTED_FROM = MAX_ANSWER_LENGTH * 0.9

/** As the service counts: by characters, of which some are two units of a string. */
const countCharacters = (text: string): number => (text.length <= COUNTED_FROM ? text.length : [...text].length)

export const isTooLong = (text: string): boolean => countCharacters(text) > MAX_ANSWER_LENGTH

/** What of a text can be saved: all of it or, of one that is too long, its beginning. */
export const cutText = (text: string): string => (isTooLong(text) ? [...text].slice(0, MAX_ANSWER_LENGTH).join('') : text)

/** How long a text is, once that is near its limit or beyond; empty before. */
export function wordLength(text: string): string {
  const count = countCharacters(text)
  if (count <= COUNTED_FROM) return ''
  const of = `${count.toLocaleString('en')} of ${LIMIT_IN_WORDS}`
  return count > MAX_ANSWER_LENGTH ? `${of}: too long. ${WHAT_IS_SAVED}` : `${of}.`
}

const LIMIT_IN_WORDS = `${MAX_ANSWER_LENGTH.toLocaleString('en')} characters`
export const WHAT_IS_SAVED = `Only the first ${LIMIT_IN_WORDS} of your answer are saved.`
