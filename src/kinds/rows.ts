import type { Random } from '../domain/ports/question-kind.ts'

// The rows of an author's form, such as options: hidden fields named `row` have their ids in the order of the rows, and the fields of a
// row have its id behind their names.

/** The name of the buttons that change the rows, or have the form shown again: what they do stands in their values. */
export const ROWS = 'rows'

/** Eight letters of chance. */
export const newRowId = (random: Random): string => Array.from({ length: 8 }, () => String.fromCharCode(97 + random(26))).join('')

/** More than a question of any kind has: what comes behind them is not looked at, so that no form costs more than a question does. */
const MOST_ROWS_READ = 100

export const rowsOf = (values: URLSearchParams): string[] => {
  const ids = new Set<string>()
  for (const id of values.getAll('row')) {
    if (/^[a-z]{8}$/.test(id)) ids.add(id)
    if (ids.size === MOST_ROWS_READ) break
  }
  return [...ids]
}

/**
 * Looks at all fields once, however many rows are read then: looking for a single one goes through them all.
 *
 * @returns what was typed into a row's field, trimmed; without what the database does not take.
 */
export function rowReader(values: URLSearchParams): (name: string, id: string) => string {
  const typed = new Map<string, string>()
  for (const [name, text] of values) if (!typed.has(name)) typed.set(name, text)
  return (name, id) => trimmed(typed.get(`${name}-${id}`) ?? '')
}

export const readTrimmed = (values: URLSearchParams, name: string): string => trimmed(values.get(name) ?? '')

const trimmed = (text: string): string => text.replaceAll('\0', '').replaceAll('\r\n', '\n').trim()

/**
 * Does what one of the buttons says.
 *
 * @param act `add`, `remove-` or `up-` or `down-` with a row; anything else changes nothing.
 * @returns the fields then, and the row to go on with.
 */
export function changeRows(values: URLSearchParams, act: string, random: Random): { values: URLSearchParams; focus?: string } {
  const rows = rowsOf(values)
  const [verb, id = ''] = act.split('-')
  const at = rows.indexOf(id)
  if (verb === 'add') {
    const added = newRowId(random)
    return { values: withRows(values, [...rows, added]), focus: added }
  }
  if (at < 0) return { values }
  const others = rows.filter((row) => row !== id)
  if (verb === 'remove') return { values: withRows(values, others), focus: others[Math.min(at, others.length - 1)] ?? '' }
  const to = verb === 'up' ? at - 1 : verb === 'down' ? at + 1 : at
  others.splice(Math.max(0, to), 0, id)
  return { values: withRows(values, others), focus: id }
}

function withRows(values: URLSearchParams, rows: string[]): URLSearchParams {
  const changed = new URLSearchParams([...values].filter(([name]) => name !== 'row' && name !== ROWS))
  for (const id of rows) changed.append('row', id)
  return changed
}
