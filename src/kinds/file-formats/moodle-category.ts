import { MAX_CATEGORY_DEPTH, MAX_PATH_BYTES } from '../../domain/library/categories.ts'
import { MAX_NAME_LENGTH } from '../../domain/limits.ts'

// Categories of Moodle, in GIFT and XML: `$course$/top/Maths/Algebra` is our `Maths / Algebra`. A slash in a name is doubled.

/** Characters of each name of a path that is too long as a whole: four bytes each fit. */
const SHORT_NAME_LENGTH = 90

/** @property losses sentences about names that are too many, or too long. */
export type MoodleCategory = { path: string; losses: string[] }

/** The names below the deepest level of the library become a part of its name. */
export function readCategory(source: string): MoodleCategory {
  const names = source
    .split(/(?<!\/)\/(?!\/)/)
    .map((name) => name.replaceAll('//', '/').replace(/\//g, '-').trim())
    .filter((name) => name !== '' && !/^\$(course|system|module|cat|coursecat)\$$/i.test(name) && name.toLowerCase() !== 'top')
  const [upper, lower] = [names.slice(0, MAX_CATEGORY_DEPTH - 1), names.slice(MAX_CATEGORY_DEPTH - 1)]
  const folded = [...upper, lower.join(' - ')].filter((name) => name !== '')
  const cut = cutNames(folded, MAX_NAME_LENGTH)
  const path = Buffer.byteLength(cut) > MAX_PATH_BYTES ? cutNames(folded, SHORT_NAME_LENGTH) : cut
  return {
    path,
    losses:
      path === names.join(' / ')
        ? []
        : [`Its category has more levels or longer names than the library takes: it becomes “${path}”.`],
  }
}

const cutNames = (names: string[], length: number): string =>
  names
    .map((name) =>
      name.length > length
        ? `${name
            .slice(0, length - 1)
            .trimEnd()
            .toWellFormed()}…`
        : name,
    )
    .join(' / ')

export const writeCategory = (category: string): string =>
  category
    .split(' / ')
    .map((name) => name.replaceAll('/', '//'))
    .join('/')
