/** Milliseconds. */
export const DAY_MS = 86_400_000

/** The time that many days later. */
export const daysAfter = (time: Date, days: number): Date => new Date(time.getTime() + days * DAY_MS)
