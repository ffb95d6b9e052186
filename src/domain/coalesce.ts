/** Asks once for all who want to know at the same time: how often somebody asks is not ours to say. */
export function coalesce<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= ask().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}
