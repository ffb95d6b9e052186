import type { Issue } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'

/** What is wrong with names: each needs one character or more that is not white space. */
export const findNameIssues = (names: Record<string, string>, limit = MAX_NAME_LENGTH): Issue[] =>
  Object.entries(names).flatMap(([field, name]): Issue[] => {
    if (name.trim() === '') return [{ field, rule: 'required' }]
    return [...name.trim()].length > limit ? [{ field, rule: 'maxLength', limit }] : []
  })
