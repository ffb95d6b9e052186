type Line = { running: number; waiting: (() => void)[] }

/** How much of somebody's work may wait, and the error for what comes then. */
type Limit = { waiting: number; refusal: () => Error }

/**
 * Has so much of somebody's work done at once; the rest waits, in the order in which it came.
 *
 * @param limit Without one a line may be longer than anybody waits for what is at its end.
 */
export function createTurns(atOnce: number, limit?: Limit): <T>(whose: string, work: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, Line>()

  return async (whose, work) => {
    const line = lines.get(whose) ?? { running: 0, waiting: [] }
    lines.set(whose, line)
    if (limit && line.waiting.length >= limit.waiting) throw limit.refusal()
    if (line.running === atOnce) await new Promise<void>((resolve) => line.waiting.push(resolve))
    else line.running++
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.running === 0) lines.delete(whose)
    }
  }
}

type Waiter = { begin: () => void; refuse: (error: Error) => void }

/**
 * Has so much work done at once, whoever's it is; the rest waits in a line for each of whom it is, of which the first ones begin in turn.
 *
 * @param limit of all that wait. Beyond it the newest in the longest line is refused.
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
  const wait = (whose: string) =>
    new Promise<void>((begin, refuse) => {
      const line = lines.get(whose) ?? []
      line.push({ begin, refuse })
      lines.set(whose, line)
      if (++waiting > limit.waiting) refuseNewest()
    })
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
