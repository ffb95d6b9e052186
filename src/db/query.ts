/** Prisma compares case-insensitively with ILIKE, but leaves its wildcards in the value: here they are literal. */
const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** Filter: the text contains these characters, in either case. */
export const containsText = (text: string) => ({ contains: escapeLike(text), mode: 'insensitive' as const })

/** Filter: the text is these characters, in either case. */
export const equalsText = (text: string) => ({ equals: escapeLike(text), mode: 'insensitive' as const })
