import { newId } from './session.ts'

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
