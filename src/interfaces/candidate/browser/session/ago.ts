/** Age of an event for a request, measured each time the request is sent. @param moment milliseconds of `performance.now()`. */
export const measureAgo = (moment: number) => ({
  toJSON: () => Math.max(0, Math.round(performance.now() - moment)),
})

/** Converts a `Date.now()` of an earlier page to `performance.now()`. */
export const toMonotonicTime = (storedAt: number): number => performance.now() - Math.max(0, Date.now() - storedAt)
