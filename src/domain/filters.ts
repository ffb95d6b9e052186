import { checkSize, findIssues } from './checks.ts'
import { DomainError, type Violation } from './errors.ts'
import { MAX_FILTER_LENGTH, MAX_FILTER_VALUES, MAX_SEARCH_WORDS } from './limits.ts'

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
export function findExcess(field: string, value: unknown): Violation | undefined {
  if (Array.isArray(value)) return checkSize('maxItems', value.length, MAX_FILTER_VALUES)
  if (typeof value !== 'string') return undefined
  const words = field === 'search' ? readWords(value).length : 0
  return checkSize('maxLength', [...value].length, MAX_FILTER_LENGTH) ?? checkSize('maxWords', words, MAX_SEARCH_WORDS)
}

/** @throws DomainError invalid, with an issue for each value of the filter that has too much of something. */
export function refuseExcess(filter: object): void {
  const issues = findIssues(Object.entries(filter).map(([field, value]) => [field, findExcess(field, value)]))
  if (issues.length > 0) throw new DomainError('invalid', { issues })
}
