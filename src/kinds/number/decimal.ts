/** A decimal as it was written: 3.10 is 310 with a scale of 2. Never a float, in which 0.1 + 0.2 is not 0.3. */
export type Decimal = { digits: bigint; scale: number }

/** @param text as {@link DECIMAL} allows. */
export function toDecimal(text: string): Decimal {
  const [whole = '', fraction = ''] = text.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

/** How a decimal is stored: digits, with a point where it has a fraction. */
export const DECIMAL = '^-?[0-9]{1,40}(\\.[0-9]{1,40})?$'

/** Less than 0, 0, or more than 0: as `one` is to `other`. */
export function compare(one: Decimal, other: Decimal): number {
  const [a, b] = aligned(one, other)
  return a < b ? -1 : a > b ? 1 : 0
}

export function distance(one: Decimal, other: Decimal): Decimal {
  const [a, b, scale] = aligned(one, other)
  return { digits: a < b ? b - a : a - b, scale }
}

/** So many percent of a number, without its sign. */
export const percentOf = (percent: Decimal, { digits, scale }: Decimal): Decimal => ({
  digits: percent.digits * (digits < 0n ? -digits : digits),
  scale: percent.scale + scale + 2,
})

function aligned(one: Decimal, other: Decimal): [bigint, bigint, number] {
  const scale = Math.max(one.scale, other.scale)
  const at = ({ digits, scale: own }: Decimal) => digits * 10n ** BigInt(scale - own)
  return [at(one), at(other), scale]
}

/** As {@link DECIMAL} allows, without zeros at its end. */
export function printDecimal({ digits, scale }: Decimal): string {
  const figures = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const [whole, fraction] = [figures.slice(0, figures.length - scale), figures.slice(figures.length - scale).replace(/0+$/, '')]
  return `${digits < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`
}
