import { newId, Refusal, type Session } from '../session/session.ts'

const ASK_WITHIN_MS = 20_000

export type KeptAttempt = ReturnType<typeof keepAttempt>

/**
 * The id of something that is granted a limited number of times. It stays the same until what was granted is used, also over a reload of this
 * tab, so that an answer that got lost costs nothing.
 *
 * @param name of what is attempted, in this browser.
 */
export function keepAttempt(name: string) {
  let kept = read()

  function read(): string | null {
    try {
      return sessionStorage.getItem(name)
    } catch {
      return null // refused, as in some private windows: then it lasts as long as the page
    }
  }

  function write(): void {
    try {
      if (kept) sessionStorage.setItem(name, kept)
      else sessionStorage.removeItem(name)
    } catch {} // as above
  }

  return {
    /** Whether something was asked for that is not used yet: it may have been granted. */
    isPending: () => kept !== null,
    id(): string {
      if (kept) return kept
      kept = newId()
      write()
      return kept
    },
    /** It is used, or was refused: the next is another. */
    done(): void {
      kept = null
      write()
    },
  }
}

/** Asks for what the id is of. It stays where it was granted, perhaps: the next asks for the same. @throws Refusal. */
export async function askFor<Granted>(session: Session, path: string, json: object, attempt: KeptAttempt): Promise<Granted> {
  try {
    const until = performance.now() + ASK_WITHIN_MS
    return (await session.send('POST', path, { json, until, attempt: attempt.id() })) as Granted
  } catch (error) {
    if (!(error instanceof Refusal && ['unreachable', 'taken_over'].includes(error.code))) attempt.done()
    throw error
  }
}
