/**
 * @property attempts of a request in all, 4 unless given; 1 never repeats one.
 * @property longestWait seconds between two attempts at most, 60 unless given: who is to wait longer gets the answer that says so.
 * @property fetch what sends requests, the platform's own unless given.
 */
export type RetryOptions = { attempts?: number; longestWait?: number; fetch?: typeof fetch }

/** Statuses after which the same request may do better; nothing has been done by it after the first. */
const REFUSED = 429
const PASSING = [REFUSED, 408, 502, 503, 504]
/** Seconds before the second attempt where the service says nothing of it; doubled each time. */
const FIRST_WAIT = 0.5

/**
 * A fetch that repeats what may do better a moment later: after a 429, 408, 502, 503 or 504, and where the connection breaks. It waits as
 * long as `Retry-After` says. A POST gets an `Idempotency-Key`, if it has none, so that repeating it is not doing it again. A DELETE is
 * repeated after a 429 only: what is known of it is whether it was done.
 */
export function retrying({ attempts = 4, longestWait = 60, fetch = globalThis.fetch }: RetryOptions) {
  return async (request: Request): Promise<Response> => {
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID())
    for (let attempt = 1; ; attempt++) {
      const outcome = await sendOnce(fetch, request)
      const seconds = secondsToWait(outcome, attempt)
      if (attempt >= attempts || seconds > longestWait || !mayBeRepeated(request, outcome)) return settle(outcome)
      await outcome.response?.body?.cancel()
      await pause(seconds * 1_000, request.signal)
    }
  }
}

type Outcome = { response: Response; error?: never } | { response?: never; error: unknown }

function settle({ response, error }: Outcome): Response {
  if (response) return response
  throw error
}

const sendOnce = (fetch: typeof globalThis.fetch, request: Request): Promise<Outcome> =>
  fetch(request.clone()).then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  )

function mayBeRepeated({ method, signal }: Request, outcome: Outcome): boolean {
  if (signal.aborted) return false
  const status = outcome.response?.status
  if (status === REFUSED) return true
  return method !== 'DELETE' && (status === undefined || PASSING.includes(status))
}

/** As long as the service asks for; else longer each time, and not for all clients alike. */
function secondsToWait(outcome: Outcome, attempt: number): number {
  const asked = Number(outcome.response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isNaN(asked) ? FIRST_WAIT * 2 ** (attempt - 1) * (0.5 + Math.random()) : asked
}

/** @throws the signal's reason when it is aborted meanwhile. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', end, { once: true })
  })
