/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r\n]/

/** CSV by RFC 4180, that is safe to open in a spreadsheet: what would be a formula there is text. */
export const toCsv = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('')

function toCell(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
