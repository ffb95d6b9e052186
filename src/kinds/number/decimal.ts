/** Exact decimal: 3.10 is 310 with a scale of 2. Not a float, in which 0.1 + 0.2 is not 0.3. */
export type Decimal = { digits: bigint; scale: number }

/** @param text must match {@link DECIMAL}. */
export function toDecimal(text: string): Decimal {
  const [whole = '', fraction = ''] = text.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

/** Pattern of stored decimals. */
export const DECIMAL = '^-?[0-9]{1,40}(\\.[0-9]{1,40})?$'

/** Comparator: negative, 0, or positive. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  const [a, b] = alignDecimals(one, other)
  return a < b ? -1 : a > b ? 1 : 0
}

export function decimalDistance(one: Decimal, other: Decimal): Decimal {
  const [a, b, scale] = alignDecimals(one, other)
  return { digits: a < b ? b - a : a - b, scale }
}

/** Percent of the absolute value. */
export const percentOf = (percent: Decimal, { digits, scale }: Decimal): Decimal => ({
  digits: percent.digits * (digits < 0n ? -digits : digits),
  scale: percent.scale + scale + 2,
})

function alignDecimals(one: Decimal, other: Decimal): [bigint, bigint, number] {
  const scale = Math.max(one.scale, other.scale)
  const toScale = ({ digits, scale: ownScale }: Decimal) => digits * 10n ** BigInt(scale - ownScale)
  return [toScale(one), toScale(other), scale]
}

/** Matches {@link DECIMAL}. Without trailing zeros. */
export function printDecimal({ digits, scale }: Decimal): string {
  const figures = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const [whole, fraction] = [figures.slice(0, figures.length - scale), figures.slice(figures.length - scale).replace(/0+$/, '')]
  return `${digits < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`
}
