/** How long ago something was, for a request: measured anew each time that the request is sent. @param at in `performance.now()`. */
export const measureAgo = (at: number) => ({
  toJSON: () => Math.max(0, Math.round(performance.now() - at)),
})
