/** Excel takes a file that does not begin so for one in the encoding of its country. */
export const BYTE_ORDER_MARK = '\ufeff'

/** What a spreadsheet takes for a formula, also behind what it leaves out, and in the signs of wide scripts. */
const FORMULA = '["\\s\\u200b\\ufeff]*[=+\\-@＝＋－＠]'
const BEGINS_AS_FORMULA = new RegExp(`^(${FORMULA}|[\\t\\r\\n])`)
/** In countries that separate cells by semicolons or tabs cells begin behind these, and rows behind line breaks, quoted or not. */
const BEHIND_SEPARATOR = new RegExp(`([;\\t\\r\\n])(?=${FORMULA})`, 'g')

/** CSV by RFC 4180, that is safe to open in a spreadsheet: what would be a formula there is text. */
export const toCsv = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')

function toCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const within = text.replace(BEHIND_SEPARATOR, "$1'")
  const safe = BEGINS_AS_FORMULA.test(within) ? `'${within}` : within
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
