import type { Issue } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { isVisible } from '../text/visible-name.ts'

/** Issues of names. Each needs a visible character. */
export const findNameIssues = (names: Record<string, string>, limit = MAX_NAME_LENGTH): Issue[] =>
  Object.entries(names).flatMap(([field, name]): Issue[] => {
    if (!isVisible(name)) return [{ field, rule: 'required' }]
    return [...name.trim()].length > limit ? [{ field, rule: 'maxLength', limit }] : []
  })
