const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' })

/** A time as candidates read it: "Monday, 21 December 2026 at 09:12 UTC". */
export const formatTime = (time: Date): string => `${format.format(time)} UTC`
