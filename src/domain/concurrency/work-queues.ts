/** @param typical milliseconds that a work takes, the latest counting most. */
type KeyQueue = { running: number; waiting: (() => void)[]; typical: number }

/** @property waiting tasks that may wait. @property longest milliseconds. @property refusal error for rejected tasks. */
type QueueLimit = { waiting: number; longest?: number; refusal: () => Error }

/** Weight of the latest task in the moving average. */
const NEWEST_SHARE = 0.3

/**
 * Runs up to `atOnce` tasks of each key at a time. The others wait in order of arrival, until their caller is gone.
 *
 * @param limit without it the queue is unbounded.
 * @param now milliseconds.
 */
export function createKeyedLimiter(atOnce: number, limit?: QueueLimit, now = () => performance.now()) {
  const lines = new Map<string, KeyQueue>()

  const refuseExcess = ({ waiting, typical }: KeyQueue) => {
    const { waiting: most, longest = Number.POSITIVE_INFINITY, refusal } = limit!
    if (waiting.length >= most || ((waiting.length + 1) / atOnce) * typical > longest) throw refusal()
  }

  return async <T>(whose: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const line = lines.get(whose) ?? { running: 0, waiting: [], typical: 0 }
    lines.set(whose, line)
    if (line.running < atOnce) line.running++
    else {
      if (limit) refuseExcess(line)
      await waitInQueue(line.waiting, limit, signal)
    }
    const begun = now()
    try {
      return await work()
    } finally {
      line.typical += (now() - begun - line.typical) * (line.typical === 0 ? 1 : NEWEST_SHARE)
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.running === 0) lines.delete(whose)
    }
  }
}

/** Waits in the line, and leaves it when the signal aborts, or after the longest wait. */
async function waitInQueue(
  waiting: (() => void)[],
  limit: QueueLimit | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const leave = () => {
    const place = waiting.indexOf(resolve)
    if (place < 0) return
    waiting.splice(place, 1)
    reject(limit?.refusal() ?? new Error('nobody waits for it any more'))
  }
  waiting.push(resolve)
  const end = limit?.longest === undefined ? undefined : setTimeout(leave, limit.longest)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave)
  try {
    await promise
  } finally {
    clearTimeout(end)
    signal?.removeEventListener('abort', leave)
  }
}

type Waiter = { begin: () => void; refuse: (error: Error) => void }

/**
 * Runs up to `atOnce` tasks at a time. The others wait in one queue per key. The queues take turns.
 *
 * @param limit of all queues together. Beyond it the newest task of the longest queue is rejected, and any task after the longest wait.
 */
export function createFairQueue(atOnce: number, limit: QueueLimit): <T>(whose: string, work: () => Promise<T>) => Promise<T> {
  /** The next key comes first. */
  const lines = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0

  const leave = (whose: string, waiter: Waiter | undefined) => {
    waiting--
    if (lines.get(whose)!.length === 0) lines.delete(whose)
    return waiter
  }
  const refuseNewest = () => {
    const [whose, line] = [...lines].reduce((longest, other) => (other[1].length >= longest[1].length ? other : longest))
    leave(whose, line.pop())?.refuse(limit.refusal())
  }
  const giveUp = (whose: string, waiter: Waiter) => {
    const line = lines.get(whose) ?? []
    const place = line.indexOf(waiter)
    if (place < 0) return
    line.splice(place, 1)
    leave(whose, waiter)?.refuse(limit.refusal())
  }
  const wait = async (whose: string) => {
    const { promise, resolve: begin, reject: refuse } = Promise.withResolvers<void>()
    const line = lines.get(whose) ?? []
    const waiter = { begin, refuse }
    line.push(waiter)
    lines.set(whose, line)
    const end = limit.longest === undefined ? undefined : setTimeout(giveUp, limit.longest, whose, waiter)
    if (++waiting > limit.waiting) refuseNewest()
    await promise.finally(() => clearTimeout(end))
  }
  const startNext = () => {
    const [first] = lines
    if (!first) return void running--
    const [whose, line] = first
    lines.delete(whose)
    lines.set(whose, line)
    leave(whose, line.shift())?.begin()
  }

  return async (whose, work) => {
    if (running === atOnce) await wait(whose)
    else running++
    try {
      return await work()
    } finally {
      startNext()
    }
  }
}
