/** @param typical moving average of a task's milliseconds. */
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
  const queues = new Map<string, KeyQueue>()

  const refuseExcess = ({ waiting, typical }: KeyQueue) => {
    const { waiting: most, longest = Number.POSITIVE_INFINITY, refusal } = limit!
    if (waiting.length >= most || ((waiting.length + 1) / atOnce) * typical > longest) throw refusal()
  }

  return async <T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const queue = queues.get(key) ?? { running: 0, waiting: [], typical: 0 }
    queues.set(key, queue)
    if (queue.running < atOnce) queue.running++
    else {
      if (limit) refuseExcess(queue)
      await waitInQueue(queue.waiting, limit, signal)
    }
    const startedAt = now()
    try {
      return await work()
    } finally {
      queue.typical += (now() - startedAt - queue.typical) * (queue.typical === 0 ? 1 : NEWEST_SHARE)
      const next = queue.waiting.shift()
      if (next) next()
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}

/** Waits in the queue and leaves it when the signal aborts, or after the longest wait. */
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
export function createFairQueue(atOnce: number, limit: QueueLimit): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  /** The next key comes first. */
  const queues = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0

  const leave = (key: string, waiter: Waiter | undefined) => {
    waiting--
    if (queues.get(key)!.length === 0) queues.delete(key)
    return waiter
  }
  const refuseNewest = () => {
    const [key, queue] = [...queues].reduce((longest, other) => (other[1].length >= longest[1].length ? other : longest))
    leave(key, queue.pop())?.refuse(limit.refusal())
  }
  const giveUp = (key: string, waiter: Waiter) => {
    const queue = queues.get(key) ?? []
    const place = queue.indexOf(waiter)
    if (place < 0) return
    queue.splice(place, 1)
    leave(key, waiter)?.refuse(limit.refusal())
  }
  const wait = async (key: string) => {
    const { promise, resolve: begin, reject: refuse } = Promise.withResolvers<void>()
    const queue = queues.get(key) ?? []
    const waiter = { begin, refuse }
    queue.push(waiter)
    queues.set(key, queue)
    const end = limit.longest === undefined ? undefined : setTimeout(giveUp, limit.longest, key, waiter)
    if (++waiting > limit.waiting) refuseNewest()
    await promise.finally(() => clearTimeout(end))
  }
  const startNext = () => {
    const [first] = queues
    if (!first) return void running--
    const [key, queue] = first
    queues.delete(key)
    queues.set(key, queue)
    leave(key, queue.shift())?.begin()
  }

  return async (key, work) => {
    if (running === atOnce) await wait(key)
    else running++
    try {
      return await work()
    } finally {
      startNext()
    }
  }
}
