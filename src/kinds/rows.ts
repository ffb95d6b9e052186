import type { Random } from '../domain/ports/question-kind.ts'

// Rows of an author's form, such as options. Hidden fields named `row` hold the row ids in order, and the fields of a row have names that end in
// its id.

/** Name of the buttons that change the rows or update the form. The value is the action. */
export const ROWS_BUTTON = 'rows'

/** Eight random letters. */
export const newRowId = (random: Random): string => Array.from({ length: 8 }, () => String.fromCharCode(97 + random(26))).join('')

/** More than any kind allows. Further rows are ignored, to bound the work. */
const MAX_ROWS_READ = 100

export const rowsOf = (values: URLSearchParams): string[] => {
  const ids = new Set<string>()
  for (const id of values.getAll('row')) {
    if (/^[a-z]{8}$/.test(id)) ids.add(id)
    if (ids.size === MAX_ROWS_READ) break
  }
  return [...ids]
}

/**
 * Indexes all fields once, because each lookup in URLSearchParams is a linear search.
 *
 * @returns a function that returns the trimmed text of a row's field, without NUL.
 */
export function rowReader(values: URLSearchParams): (name: string, id: string) => string {
  const typed = new Map<string, string>()
  for (const [name, text] of values) if (!typed.has(name)) typed.set(name, text)
  return (name, id) => trimmed(typed.get(`${name}-${id}`) ?? '')
}

export const readTrimmed = (values: URLSearchParams, name: string): string => trimmed(values.get(name) ?? '')

const trimmed = (text: string): string => text.replaceAll('\0', '').replaceAll('\r\n', '\n').trim()

/**
 * Performs the action of a button.
 *
 * @param act `add`, or `remove-`, `up-`, or `down-` and a row id; other values change nothing.
 * @returns the changed fields, and the row that gets the focus.
 */
export function changeRows(values: URLSearchParams, act: string, random: Random): { values: URLSearchParams; focus?: string } {
  const rows = rowsOf(values)
  const [verb, id = ''] = act.split('-')
  const index = rows.indexOf(id)
  if (verb === 'add') {
    const added = newRowId(random)
    return { values: withRows(values, [...rows, added]), focus: added }
  }
  if (index < 0) return { values }
  const otherRows = rows.filter((row) => row !== id)
  if (verb === 'remove')
    return { values: withRows(values, otherRows), focus: otherRows[Math.min(index, otherRows.length - 1)] ?? '' }
  const newIndex = verb === 'up' ? index - 1 : verb === 'down' ? index + 1 : index
  otherRows.splice(Math.max(0, newIndex), 0, id)
  return { values: withRows(values, otherRows), focus: id }
}

function withRows(values: URLSearchParams, rows: string[]): URLSearchParams {
  const changed = new URLSearchParams([...values].filter(([name]) => name !== 'row' && name !== ROWS_BUTTON))
  for (const id of rows) changed.append('row', id)
  return changed
}
