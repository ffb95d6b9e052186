import { newId, Refusal, type Session } from '../session/session.ts'

const ASK_WITHIN_MS = 20_000

export type IdempotencyKey = ReturnType<typeof createIdempotencyKey>

/**
 * An idempotency key for a grant that is limited in number. The tab keeps it until it is discarded, also when the page reloads, so that
 * asking again after a lost response costs nothing.
 *
 * @param name of the key in the tab's session storage.
 */
export function createIdempotencyKey(name: string) {
  let key = read()

  function read(): string | null {
    try {
      return sessionStorage.getItem(name)
    } catch {
      return null // some private windows refuse storage: then the key lasts as long as the page
    }
  }

  function write(): void {
    try {
      if (key) sessionStorage.setItem(name, key)
      else sessionStorage.removeItem(name)
    } catch {} // as above
  }

  return {
    /** True if a grant was requested and not used yet; the service may have granted it. */
    isPending: () => key !== null,
    value(): string {
      if (key) return key
      key = newId()
      write()
      return key
    },
    /** The grant is used or refused: the next request gets a new key. */
    discard(): void {
      key = null
      write()
    },
  }
}

/**
 * Requests a grant. Keeps the key if the service may have granted it without a response arriving.
 *
 * @throws Refusal.
 */
export async function requestGrant<Granted>(session: Session, path: string, json: object, key: IdempotencyKey): Promise<Granted> {
  try {
    const until = performance.now() + ASK_WITHIN_MS
    return (await session.send('POST', path, { json, until, idempotencyKey: key.value() })) as Granted
  } catch (error) {
    if (!(error instanceof Refusal && ['unreachable', 'taken_over'].includes(error.code))) key.discard()
    throw error
  }
}
