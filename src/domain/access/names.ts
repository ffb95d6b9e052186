import type { Issue } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'

/** What is wrong with names: each needs one character or more that is not white space. */
export const findNameIssues = (names: Record<string, string>): Issue[] =>
  Object.entries(names).flatMap(([field, name]): Issue[] => {
    if (name.trim() === '') return [{ field, rule: 'required' }]
    return [...name.trim()].length > MAX_NAME_LENGTH ? [{ field, rule: 'maxLength', limit: MAX_NAME_LENGTH }] : []
  })
