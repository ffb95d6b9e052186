import { Prisma } from '../generated/prisma/client.ts'

/** ILIKE's pattern for a text of exactly these characters: its wildcards are literal. Prisma compares case-insensitively with ILIKE, too. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** ILIKE's pattern for a text that contains these characters. */
export const containing = (text: string): string => `%${escapeLike(text)}%`

/** Filter: the text is these characters, in either case. */
export const equalsText = (text: string) => ({ equals: escapeLike(text), mode: 'insensitive' as const })

/**
 * Filter: any of these values. The last is repeated up to the next power of two: few lengths make few statements, which PostgreSQL then
 * has parsed and planned before.
 */
export function anyOf<T>(values: T[]): { in: T[] } {
  const length = values.length === 0 ? 0 : 2 ** Math.ceil(Math.log2(values.length))
  return { in: Array.from({ length }, (_, i) => values[Math.min(i, values.length - 1)]!) }
}

/** As many as PostgreSQL expects of a list of unknown length, and some. */
const LONG_LIST = 16

/** SQL: `id` is one of these. */
export const hasId = (ids: string[]): Prisma.Sql => (ids.length === 1 ? Prisma.sql`id = ${ids[0]}::uuid` : isAmong(ids))

/**
 * The same as one text, however many they are. They are made a long list by repeating the last: a plan that PostgreSQL keeps is for a long
 * one, and where it meets shorter ones it plans each time anew, which takes several times as long as the look-up.
 */
export function isAmong(ids: string[]): Prisma.Sql {
  const repeated = ids.slice(-1).flatMap((last) => Array(Math.max(0, LONG_LIST - ids.length)).fill(last))
  return Prisma.sql`id = ANY (${[...ids, ...repeated]}::uuid[])`
}

/** SQL: `WHERE` with all of the conditions that there are. */
export const whereAll = (conditions: (Prisma.Sql | false)[]): Prisma.Sql =>
  Prisma.sql`WHERE ${Prisma.join(
    conditions.filter((condition) => condition !== false),
    ' AND ',
  )}`
