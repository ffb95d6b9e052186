import { DomainError, type Issue } from './errors.ts'

// How much one list may be asked for. Words, values and characters are compared with every row of the organization, so what a caller
// sends must not decide what they cost.

/** Distinct words of a search. */
export const MAX_SEARCH_WORDS = 8
/** Characters of a text: more than any address, and than the name of any assessment or tag. */
export const MAX_FILTER_LENGTH = 255
/** Distinct values of a filter that takes any of several. */
export const MAX_FILTER_VALUES = 100

/** The parts of a text that are not blank, without the white space around them. */
export const splitText = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** The words of a search, parted by white space and commas: each once, whatever its case. */
export const readWords = (search = ''): string[] => [
  ...new Map(splitText(search, /[\s,]+/).map((word) => [word.toLowerCase(), word])).values(),
]

/** What the value of a filter has too much of, of words only where it is called `search`; undefined when it keeps to the limits. */
export function findExcess(field: string, value: unknown): Issue | undefined {
  if (Array.isArray(value)) return excess(field, 'maxItems', MAX_FILTER_VALUES, value.length)
  if (typeof value !== 'string') return undefined
  const words = field === 'search' ? readWords(value).length : 0
  return excess(field, 'maxLength', MAX_FILTER_LENGTH, [...value].length) ?? excess(field, 'maxWords', MAX_SEARCH_WORDS, words)
}

/** @throws DomainError invalid, with an issue for each value of the filter that has too much of something. */
export function refuseExcess(filter: object): void {
  const issues = Object.entries(filter).flatMap(([field, value]) => findExcess(field, value) ?? [])
  if (issues.length > 0) throw new DomainError('invalid', { issues })
}

const excess = (field: string, rule: string, limit: number, given: number): Issue | undefined =>
  given > limit ? { field, rule, limit } : undefined
