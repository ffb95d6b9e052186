/** Shares one call among all callers while it is in progress. */
export function singleFlight<T>(call: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => {
    pending ??= call().finally(() => {
      pending = undefined
    })
    return pending
  }
}
