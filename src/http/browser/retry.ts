import { sleep } from './dom.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** Statuses worth a retry. Not 507: the organization has no storage left. */
export const RETRYABLE_STATUSES = [408, 425, 429, 500, 502, 503, 504]

/**
 * Sends a request until a response needs no retry, with exponential backoff. Retries at once when the connection is back.
 *
 * @param shouldRetry is called after each failure: the response, or null without a connection, and the milliseconds until the retry.
 * @returns null if `shouldRetry` returned false.
 */
export async function requestWithRetry(
  send: () => Promise<Response>,
  shouldRetry: (failure: Response | null, pause: number) => boolean,
): Promise<Response | null> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const response = await send().catch(() => null)
    if (response && !RETRYABLE_STATUSES.includes(response.status)) return response
    void response?.body?.cancel() // an unread body would hold the connection
    if (!shouldRetry(response, pause)) return null
    await Promise.race([sleep(pause * (0.75 + Math.random() / 2)), nextEvent(window, 'online')])
  }
}

export const nextEvent = (target: EventTarget, type: string) =>
  new Promise<void>((resolve) => target.addEventListener(type, () => resolve(), { once: true }))
