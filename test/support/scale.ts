export const LONG = process.env.FAULTS === 'long'

/** How many of a thing: few in every check, many with FAULTS=long. */
export const scaled = (short: number, long: number): number => (LONG ? long : short)
