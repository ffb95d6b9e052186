/** Without it, Excel assumes the encoding of the user's country. */
export const BYTE_ORDER_MARK = '\ufeff'

/** Start of a formula in a spreadsheet, also after skipped characters, and with full-width signs. */
const FORMULA = '["\\s\\u200b\\ufeff]*[=+\\-@＝＋－＠]'
const BEGINS_AS_FORMULA = new RegExp(`^(${FORMULA}|[\\t\\r\\n])`)
/** With semicolons or tabs as separators, a cell begins after each of these, and a row after a line break, quoted or not. */
const SEPARATORS = ';\t\r\n'
const SIGNS = '=+-@＝＋－＠'
/** Characters that a spreadsheet skips before a sign. With the apostrophe, so that added apostrophes are found again. */
const SKIPPED = /["'\s\u200b\ufeff]/
/** Fast check: most texts have none of these. */
const MAY_HAVE_INNER_FORMULA = /["'\s\u200b\ufeff;][=+\-@＝＋－＠]/

/** CSV by RFC 4180. Texts that a spreadsheet would take for formulas are escaped by an apostrophe. */
export const toCsv = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')

function toCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const escaped = escapeInnerFormulas(text)
  const safe = BEGINS_AS_FORMULA.test(escaped) ? `'${escaped}` : escaped
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Escapes formulas that appear where cells are separated by other characters than commas. */
const escapeInnerFormulas = (text: string): string => cutAt(text, findInnerFormulas(text)).join("'")

/** Removes the apostrophes that {@link toCsv} added inside of a cell. One at its start stays. */
export function unescapeInnerFormulas(cell: string): string {
  const [first = '', ...parts] = cutAt(
    cell,
    findInnerFormulas(cell).filter((position) => cell[position] === "'"),
  )
  return [first, ...parts.map((part) => part.slice(1))].join('')
}

const cutAt = (text: string, positions: number[]): string[] =>
  [0, ...positions].map((from, i) => text.slice(from, positions[i] ?? text.length))

/** Positions of formulas after separators. Reads backwards, so that each character is read once. */
function findInnerFormulas(text: string): number[] {
  if (!MAY_HAVE_INNER_FORMULA.test(text)) return []
  const positions: number[] = []
  let leadsToSign = false
  for (let position = text.length - 1; position > 0; position--) {
    const sign = text[position]!
    leadsToSign = SIGNS.includes(sign) || (leadsToSign && SKIPPED.test(sign))
    if (leadsToSign && SEPARATORS.includes(text[position - 1]!)) positions.push(position)
  }
  return positions.reverse()
}
