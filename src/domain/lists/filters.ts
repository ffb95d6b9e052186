import { DomainError, type Violation } from '../errors.ts'
import { MAX_FILTER_LENGTH, MAX_FILTER_VALUES, MAX_SEARCH_WORDS } from '../limits.ts'
import { caseKey } from '../text/fold-text.ts'
import { checkSize, findIssues } from '../validation/checks.ts'

/** Filters of a list as an interface fills them: every filter is named, undefined if it is not set or not offered. */
export type FilterInput<Filter> = { [Field in keyof Filter]-?: Filter[Field] | undefined }

/** The trimmed, non-empty parts of a text. */
export const splitText = (text: string, separator: RegExp): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** The distinct words of a search, separated by white space and commas; case is ignored. */
export const readWords = (search = ''): string[] => [
  ...new Map(splitText(search, /[\s,]+/).map((word) => [caseKey(word), word])).values(),
]

/** The limit that the value of a filter exceeds, if any. Texts that are looked for word by word have a limit of words. */
export function checkFilterLimits(field: string, value: unknown): Violation | undefined {
  if (Array.isArray(value)) return checkSize('maxItems', value.length, MAX_FILTER_VALUES)
  if (typeof value !== 'string') return undefined
  const words = field === 'search' || field === 'recipient' ? readWords(value).length : 0
  return checkSize('maxLength', [...value].length, MAX_FILTER_LENGTH) ?? checkSize('maxWords', words, MAX_SEARCH_WORDS)
}

/** @throws DomainError invalid, with an issue for each value that exceeds a limit. */
export function validateFilter(filter: object): void {
  const issues = findIssues(Object.entries(filter).map(([field, value]) => [field, checkFilterLimits(field, value)]))
  if (issues.length > 0) throw new DomainError('invalid', { issues })
}
