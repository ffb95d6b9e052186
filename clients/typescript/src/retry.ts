/**
 * @property attempts including the first; 1 disables retries. Default: 4.
 * @property longestWait seconds. If the service asks to wait longer, its response is thrown at once. Default: 60.
 * @property fetch sends the requests. Default: the platform's own.
 */
export type RetryOptions = { attempts?: number; longestWait?: number; fetch?: typeof fetch }

/** Statuses after which a retry can succeed. After a 429, the request had no effect. */
const REFUSED = 429
const TRANSIENT = [REFUSED, 408, 502, 503, 504]
/** Seconds before the first retry without `Retry-After`, doubled for each further one. */
const FIRST_WAIT = 0.5

/**
 * Returns a fetch with retries: after a 429, 408, 502, 503, or 504, and after a broken connection. It waits as long as `Retry-After` says.
 * A POST without an `Idempotency-Key` gets one, so that a retry has no second effect. A DELETE is repeated after a 429 only, because a second
 * one would be answered with 404.
 */
export function retrying({ attempts = 4, longestWait = 60, fetch = globalThis.fetch }: RetryOptions) {
  return async (request: Request): Promise<Response> => {
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID())
    for (let attempt = 1; ; attempt++) {
      const outcome = await sendOnce(fetch, request)
      const seconds = secondsToWait(outcome, attempt)
      if (attempt >= attempts || seconds > longestWait || !canBeRepeated(request, outcome)) return settle(outcome)
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

function canBeRepeated({ method, signal }: Request, outcome: Outcome): boolean {
  if (signal.aborted) return false
  const status = outcome.response?.status
  if (status === REFUSED) return true
  return method !== 'DELETE' && (status === undefined || TRANSIENT.includes(status))
}

/** `Retry-After`, or exponential backoff with jitter. */
function secondsToWait(outcome: Outcome, attempt: number): number {
  const retryAfter = Number(outcome.response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isNaN(retryAfter) ? FIRST_WAIT * 2 ** (attempt - 1) * (0.5 + Math.random()) : retryAfter
}

/** @throws the signal's reason if it is aborted. */
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
