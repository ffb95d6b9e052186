/** Milliseconds from one attempt to the next. When they are used up, a delivery has failed. */
const DELAYS_MS = [5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600_000)]
/** Random share of a delay, so that simultaneous failures are not retried simultaneously. */
const JITTER = 0.1
/** An endpoint may ask for this much patience, and no more. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/**
 * When to attempt a delivery again.
 *
 * @param attempts how many have failed, of this round.
 * @param retryAfter the header of the last answer.
 * @returns null when there is no further attempt.
 */
export function nextAttempt(now: Date, attempts: number, retryAfter: string | undefined): Date | null {
  const delay = DELAYS_MS[attempts - 1]
  if (delay === undefined) return null
  const jittered = delay * (1 + JITTER * (2 * Math.random() - 1))
  return new Date(now.getTime() + Math.max(jittered, readRetryAfter(now, retryAfter)))
}

/** Parses Retry-After: seconds or a date. @returns milliseconds from now; 0 if it is neither. */
function readRetryAfter(now: Date, header = ''): number {
  const delay = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now.getTime()
  return delay > 0 ? Math.min(delay, MAX_RETRY_AFTER_MS) : 0
}
