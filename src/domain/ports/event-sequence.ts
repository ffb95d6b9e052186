/** Assigns feed positions to committed events, in the background. */
export type EventSequence = {
  /** Call after a transaction with events has committed. */
  recorded: () => void
  /** Highest position in the feed, at most a second old. */
  head: () => bigint
}
