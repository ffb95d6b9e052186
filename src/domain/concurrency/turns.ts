/** @param typical milliseconds that a work takes, the latest counting most. */
type Line = { running: number; waiting: (() => void)[]; typical: number }

/** How much of somebody's work may wait, and for how many milliseconds; the error for what would wait longer. */
type Limit = { waiting: number; longest?: number; refusal: () => Error }

/** How much the latest work counts. */
const NEWEST_SHARE = 0.3

/**
 * Has so much of somebody's work done at once; the rest waits, in the order in which it came, as long as anybody waits for its outcome.
 *
 * @param limit Without one a line may be longer than anybody waits for what is at its end.
 * @param now milliseconds.
 */
export function createTurns(atOnce: number, limit?: Limit, now = () => performance.now()) {
  const lines = new Map<string, Line>()

  const refuseExcess = ({ waiting, typical }: Line) => {
    const { waiting: most, longest = Number.POSITIVE_INFINITY, refusal } = limit!
    if (waiting.length >= most || ((waiting.length + 1) / atOnce) * typical > longest) throw refusal()
  }

  return async <T>(whose: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const line = lines.get(whose) ?? { running: 0, waiting: [], typical: 0 }
    lines.set(whose, line)
    if (line.running < atOnce) line.running++
    else {
      if (limit) refuseExcess(line)
      await waitForTurn(line.waiting, limit, signal)
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
async function waitForTurn(waiting: (() => void)[], limit: Limit | undefined, signal: AbortSignal | undefined): Promise<void> {
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
 * Has so much work done at once, whoever's it is; the rest waits in a line for each of whom it is, of which the first ones begin in turn.
 *
 * @param limit of all that wait. Beyond it the newest in the longest line is refused; and whoever has waited for the longest that they may.
 */
export function createFairTurns(atOnce: number, limit: Limit): <T>(whose: string, work: () => Promise<T>) => Promise<T> {
  /** Whoever's turn is next comes first. */
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
  const goOn = () => {
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
      goOn()
    }
  }
}
