/** Milliseconds. */
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The time that many days later. */
export const daysAfter = (time: Date, days: number): Date => new Date(time.getTime() + days * DAY_MS)
