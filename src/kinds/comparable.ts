import { caseKey, withoutAccents } from '../domain/text/fold-text.ts'
import type { Key } from './short-text/schema.ts'

export type ComparisonOptions = Pick<Key, 'caseSensitive' | 'ignore'>

/** Full-width and half-width forms, except for the macron, whose compatibility form has a space. */
const WIDTH_FORMS = /[\uFF01-\uFFE2\uFFE4-\uFFEE]+/g
const SINGLE_QUOTES = /[\u2018-\u201B\u2039\u203A\u02BC]/g
const DOUBLE_QUOTES = /[\u201C-\u201F\u00AB\u00BB]/g
const DASHES = /[\u2010-\u2015\u2212]/g

const QUOTES_AND_BRACKETS = /['"\p{Ps}\p{Pe}]/gu
/**
 * `. , ; : ! ?` and their forms in other scripts, where a word ends: before a space, before an asterisk of the key, at the end, or before a
 * letter of a script that puts no spaces between words.
 */
const END_OF_WORD = /[.,;:!?…。、،؛؟۔।॥]+(?=[\s*]|$|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu
/** Spanish questions and exclamations begin with a sign as well. */
const START_OF_WORD = /(?<=^|\s)[¿¡]+/gu

/** Normalizes keys and answers for comparison. */
export function toComparable(text: string, { caseSensitive, ignore }: ComparisonOptions): string {
  const plain = text
    .replace(WIDTH_FORMS, (forms) => forms.normalize('NFKC'))
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(DASHES, '-')
  const cased = caseSensitive ? plain.normalize('NFC') : caseKey(plain)
  const accented = ignore.accents ? withoutAccents(cased) : cased
  const punctuated = ignore.punctuation ? withoutPunctuation(accented) : accented
  return punctuated.replace(/\s+/g, ' ').trim()
}

const withoutPunctuation = (text: string): string =>
  text.replace(QUOTES_AND_BRACKETS, '').replace(END_OF_WORD, '').replace(START_OF_WORD, '')
