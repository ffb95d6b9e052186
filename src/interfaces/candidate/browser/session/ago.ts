/** Age of an event for a request, measured each time the request is sent. @param at in `performance.now()`. */
export const measureAgo = (at: number) => ({
  toJSON: () => Math.max(0, Math.round(performance.now() - at)),
})

/** Converts a `Date.now()` of an earlier page to `performance.now()`. */
export const keptMoment = (at: number): number => performance.now() - Math.max(0, Date.now() - at)
