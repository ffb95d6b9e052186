/** Longest exponent that is written out. */
const MAX_EXPONENT = 30

/** `.5`, `+5`, and `1e4` as `0.5`, `5`, and `10000`; undefined for anything but a number with a decimal point. */
export function plainDecimal(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d{0,100})(?:\.(\d{0,100}))?(?:e([+-]?\d{1,3}))?$/i.exec(text.replaceAll('−', '-')) ?? []
  if (sign === undefined || whole + fraction === '' || Math.abs(Number(exponent)) > MAX_EXPONENT) return undefined
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const padded = point > digits.length ? digits.padEnd(point, '0') : digits.padStart(digits.length - Math.min(0, point), '0')
  const index = Math.max(0, point)
  const integer = padded.slice(0, index).replace(/^0+(?=\d)/, '') || '0'
  const decimals = padded.slice(index)
  const isNegative = sign === '-' && /[1-9]/.test(digits)
  return `${isNegative ? '-' : ''}${integer}${decimals === '' ? '' : `.${decimals}`}`
}

/**
 * A number as people write it: with a decimal point or comma, and groups of thousands.
 *
 * @param hasCommas true if the file has decimal commas elsewhere: `1.234` is then unclear.
 * @returns undefined for no number, or one that can be read in two ways, as `1,234`.
 */
export function readDecimal(text: string, hasCommas = false): string | undefined {
  const trimmed = text.trim()
  const compact = trimmed.replace(/(?<=\d)[\s'’](?=\d{3}(?!\d))/gu, '')
  if (/^[+-]?\d+,\d+$/.test(compact))
    return /^[+-]?[1-9]\d{0,2},\d{3}$/.test(compact) ? undefined : plainDecimal(compact.replace(',', '.'))
  if (/^[+-]?\d{1,3}(\.\d{3})+,\d+$/.test(compact) || /^[+-]?\d{1,3}(\.\d{3}){2,}$/.test(compact))
    return plainDecimal(compact.replaceAll('.', '').replace(',', '.'))
  if (/^[+-]?\d{1,3}(,\d{3})+\.\d+$/.test(compact) || /^[+-]?\d{1,3}(,\d{3}){2,}$/.test(compact))
    return plainDecimal(compact.replaceAll(',', ''))
  if (hasCommas && /^[+-]?\d{1,3}\.\d{3}$/.test(compact)) return undefined
  return plainDecimal(compact)
}

/** True for a number with a decimal comma that can't be one with groups of thousands. */
export const hasDecimalComma = (text: string): boolean => /^[+-]?(\d{1,3}(\.\d{3})+|\d+),(\d{1,2}|\d{4,})$/.test(text.trim())

/** Points are whole. @param losses gets a sentence about the rest. */
export function roundPoints(decimal: string, losses: string[]): number {
  const points = Math.round(Number(decimal))
  if (points !== Number(decimal)) losses.push(`Points are rounded: ${points} instead of ${Number(decimal)}.`)
  return points
}

/** The middle of two decimals, and its distance to both, exactly. */
export function middleOf(from: string, to: string): { value: string; tolerance: string } {
  const places = Math.max(...[from, to].map((decimal) => decimal.split('.')[1]?.length ?? 0))
  const scale = (decimal: string): bigint => {
    const [whole = '', fraction = ''] = decimal.split('.')
    return BigInt(whole + fraction.padEnd(places, '0')) * 5n
  }
  const print = (tenths: bigint) => plainDecimal(`${tenths}e-${places + 1}`)!.replace(/\.?0+$/, '')
  return { value: print(scale(from) + scale(to)), tolerance: print(scale(to) - scale(from)) }
}
