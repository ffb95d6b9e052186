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
