import { wait } from './dom.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** What may be answered otherwise a moment later. 507 is not among them: the organization has no room. */
export const PASSING = [408, 425, 429, 500, 502, 503, 504]

/**
 * Asks until there is an answer that asking again does not change; at once when the connection is back.
 *
 * @param goesOn whether to ask again after a failure. @param goesOn.failure null: there was no connection. @param goesOn.pause milliseconds.
 * @returns null when it is not asked again.
 */
export async function askUntilAnswered(
  ask: () => Promise<Response>,
  goesOn: (failure: Response | null, pause: number) => boolean,
): Promise<Response | null> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const answer = await ask().catch(() => null)
    if (answer && !PASSING.includes(answer.status)) return answer
    void answer?.body?.cancel() // unread, it would keep its connection
    if (!goesOn(answer, pause)) return null
    await Promise.race([wait(pause * (0.75 + Math.random() / 2)), nextEvent(window, 'online')])
  }
}

export const nextEvent = (target: EventTarget, type: string) =>
  new Promise<void>((resolve) => target.addEventListener(type, () => resolve(), { once: true }))
