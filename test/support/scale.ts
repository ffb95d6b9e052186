export const LONG = process.env.TEST_LONG === 'yes'

/** Returns a number of repetitions: few in every check, many in `npm run test:long`. */
export const scaled = (short: number, long: number): number => (LONG ? long : short)
