/** LIKE's pattern for a text of exactly these characters: its wildcards are literal. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** LIKE's pattern for a text that contains these characters. */
export const containing = (text: string): string => `%${escapeLike(text)}%`

/**
 * Filter: any of these values. The last value is repeated up to the next power of two, because few different lengths mean few statements
 * for PostgreSQL to plan.
 */
export function anyOf<T>(values: T[]): { in: T[] } {
  const length = values.length === 0 ? 0 : 2 ** Math.ceil(Math.log2(values.length))
  return { in: Array.from({ length }, (_, i) => values[Math.min(i, values.length - 1)]!) }
}
