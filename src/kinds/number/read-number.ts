import { normalize } from '../../domain/text/normalize.ts'

/** Zeros of other scripts. The other digits of a script follow its zero. */
const ZEROES = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50]
/** Larger exponents are typing errors. */
const MAX_EXPONENT = 30

/**
 * Parses a typed number. A single point or comma is the decimal separator. Of two different separators the last is the decimal one. A separator
 * that occurs several times groups digits, as spaces and apostrophes do.
 *
 * @returns decimals with a point: none for an invalid number, two for an ambiguous one, the likelier first (16,000 is sixteen or sixteen
 *   thousand).
 */
export function readNumber(typed: string): string[] {
  const text = westernDigits(normalize(typed)).replace(/٫/g, '.').replace(/٬/g, "'")
  const [, sign = '', number = '', exponent = ''] =
    /^([+-]?) ?([0-9][0-9.,' ]*|[.,][0-9]+)(?:[eE]([+-]?[0-9]{1,3}))?$/.exec(text) ?? []
  if (number === '') return []
  return readDigits(number).flatMap((digits) => {
    const decimal = shiftPoint(digits, Number(exponent || 0))
    return decimal === null ? [] : [sign === '-' && /[1-9]/.test(decimal) ? `-${decimal}` : decimal]
  })
}

function readDigits(number: string): string[] {
  if (/ $|' | '|''/.test(number)) return []
  const grouped = /[ ']/.test(number)
  const [head = ''] = number.split(/[.,]/)
  if (grouped && !isGrouped(head.split(/[ ']/))) return []
  if (grouped && /[ ']/.test(number.slice(head.length))) return []
  const plain = number.replace(/[ ']/g, '')
  const separators = plain.replace(/[0-9]/g, '')
  if (separators === '') return [plain]
  if (separators.length === 1) return readOne(plain, separators, grouped)
  const last = separators.at(-1)!
  const earlier = separators.slice(0, -1)
  if (new Set(separators).size === 1) return grouped ? [] : joinGroups(plain.split(last))
  if (grouped || earlier.includes(last) || new Set(earlier).size > 1) return []
  const [whole = '', fraction = ''] = plain.split(last)
  return joinGroups(whole.split(earlier[0]!)).map((digits) => withFraction(digits, fraction))
}

/** A single separator is the decimal one. A comma before three digits may group thousands instead. */
function readOne(plain: string, separator: string, grouped: boolean): string[] {
  const [whole = '', fraction = ''] = plain.split(separator)
  const decimal = withFraction(whole || '0', fraction)
  return separator === ',' && !grouped && /^[1-9][0-9]{0,2},[0-9]{3}$/.test(plain) ? [decimal, whole + fraction] : [decimal]
}

const withFraction = (whole: string, fraction: string): string => (fraction === '' ? whole : `${whole}.${fraction}`)

const joinGroups = (groups: string[]): string[] => (isGrouped(groups) ? [groups.join('')] : [])

/** Groups of three digits, or Indian groups (12,34,567). */
const isGrouped = ([first = '', ...otherGroups]: string[]): boolean =>
  /^[0-9]{1,3}$/.test(first) &&
  otherGroups.length > 0 &&
  otherGroups.at(-1)!.length === 3 &&
  (otherGroups.every(({ length }) => length === 3) ||
    (first.length < 3 && otherGroups.slice(0, -1).every(({ length }) => length === 2)))

/** The number times 10 to the exponent. @returns null if the result is too long. */
function shiftPoint(number: string, exponent: number): string | null {
  if (Math.abs(exponent) > MAX_EXPONENT) return null
  const [whole = '', fraction = ''] = number.split('.')
  const digits = whole + fraction
  const point = whole.length + exponent
  const padded = digits.padStart(digits.length + Math.max(0, 1 - point), '0').padEnd(Math.max(point, digits.length), '0')
  const index = Math.max(1, point)
  const [left, right] = [padded.slice(0, index).replace(/^0+(?=[0-9])/, ''), padded.slice(index)]
  return left.length > 40 || right.length > 40 ? null : withFraction(left, right)
}

const westernDigits = (text: string): string =>
  text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!
    const zero = ZEROES.find((zero) => code >= zero && code < zero + 10)
    return zero === undefined ? digit : String(code - zero)
  })
