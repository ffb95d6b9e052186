/** Excel takes a file that does not begin so for one in the encoding of its country. */
export const BYTE_ORDER_MARK = '\ufeff'

/** What a spreadsheet takes for a formula, also behind what it leaves out, and in the signs of wide scripts. */
const FORMULA = '["\\s\\u200b\\ufeff]*[=+\\-@＝＋－＠]'
const BEGINS_AS_FORMULA = new RegExp(`^(${FORMULA}|[\\t\\r\\n])`)
/** In countries that separate cells by semicolons or tabs cells begin behind these, and rows behind line breaks, quoted or not. */
const SEPARATORS = ';\t\r\n'
const SIGNS = '=+-@＝＋－＠'
/** Apostrophes as well: those that are added then change nothing of where formulas begin, so that they can be found again. */
const LEFT_OUT = /["'\s\u200b\ufeff]/
/** Most texts have none of these, and need no look at each character. */
const MAY_BEGIN_WITHIN = /["'\s\u200b\ufeff;][=+\-@＝＋－＠]/

/** CSV by RFC 4180, that is safe to open in a spreadsheet: what would be a formula there is text. */
export const toCsv = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')

function toCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const within = guardWithin(text)
  const safe = BEGINS_AS_FORMULA.test(within) ? `'${within}` : within
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** An apostrophe before what would be a formula where cells are separated by other signs than commas. */
const guardWithin = (text: string): string => cutAt(text, formulasWithin(text)).join("'")

/** The text of a cell of {@link toCsv} without the apostrophes within it; one at its beginning stays. */
export function unguardWithin(cell: string): string {
  const [first = '', ...others] = cutAt(
    cell,
    formulasWithin(cell).filter((at) => cell[at] === "'"),
  )
  return [first, ...others.map((part) => part.slice(1))].join('')
}

const cutAt = (text: string, places: number[]): string[] =>
  [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length))

/** Where formulas begin behind separators. From the end, so that each character is looked at once. */
function formulasWithin(text: string): number[] {
  if (!MAY_BEGIN_WITHIN.test(text)) return []
  const places: number[] = []
  let leadsToSign = false
  for (let at = text.length - 1; at > 0; at--) {
    const sign = text[at]!
    leadsToSign = SIGNS.includes(sign) || (leadsToSign && LEFT_OUT.test(sign))
    if (leadsToSign && SEPARATORS.includes(text[at - 1]!)) places.push(at)
  }
  return places.reverse()
}
