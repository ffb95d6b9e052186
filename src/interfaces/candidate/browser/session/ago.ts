/** Age of an event for a request, measured each time the request is sent. @param at in `performance.now()`. */
export const measureAgo = (at: number) => ({
  toJSON: () => Math.max(0, Math.round(performance.now() - at)),
})

/** A time of the device's clock as `performance.now()` has it: what was kept over a reload. @param at of the earlier page, by `Date.now()`. */
export const keptMoment = (at: number): number => performance.now() - Math.max(0, Date.now() - at)
