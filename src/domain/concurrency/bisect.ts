import { isOvertaken, isTimeout } from '../../db/errors.ts'
import { isDatabaseAway, isDatabaseBusy } from '../errors.ts'

// A statement on many rows may exceed its time limit or fail on one row. It is then repeated on halves.

/** More rows that can't be worked on than this are no exception: something else is wrong, and the rest would only fail as well. */
const MAX_FAILED = 20

export type FailedItem<T> = { item: T; error: unknown }

/**
 * Works on all items together; where that takes too long or fails, on each half by itself, and so on. What can't be worked on by itself
 * stops nothing that stands behind it.
 *
 * @returns what could not be worked on.
 * @throws what the work throws when the database is away or has no room for it, or after {@link MAX_FAILED} items that failed. What
 *   somebody else has locked is one of those: it is there the next time.
 */
export async function bisectBatch<T>(items: T[], work: (items: T[]) => Promise<void>): Promise<FailedItem<T>[]> {
  const failed: FailedItem<T>[] = []
  const left = items.length > 0 ? [items] : []
  for (let some = left.pop(); some; some = left.pop()) {
    try {
      await work(some)
    } catch (error) {
      if (isDatabaseAway(error) || (isDatabaseBusy(error) && !isTimeout(error) && !isOvertaken(error))) throw error
      const middle = Math.ceil(some.length / 2)
      if (some.length > 1) left.push(some.slice(middle), some.slice(0, middle))
      else if (failed.push({ item: some[0]!, error }) > MAX_FAILED) throw error
    }
  }
  return failed
}

/** Works on each item by itself, as {@link bisectBatch} does at its end. */
export async function processEach<T>(items: T[], work: (item: T) => Promise<void>): Promise<FailedItem<T>[]> {
  const failed: FailedItem<T>[] = []
  for (const item of items) failed.push(...(await bisectBatch([item], () => work(item))))
  if (failed.length > MAX_FAILED) throw failed[0]!.error
  return failed
}

/**
 * Repeats a statement with a limit of rows until it finds fewer. Halves the limit after a statement timed out.
 *
 * @param work is told how many at most, and returns how many there were.
 */
export async function repeatBatch(atOnce: number, work: (atMost: number) => Promise<number>): Promise<void> {
  for (let atMost = atOnce; ; ) {
    try {
      if ((await work(atMost)) < atMost) return
    } catch (error) {
      if (!isTimeout(error) || atMost === 1) throw error
      atMost = Math.ceil(atMost / 2)
    }
  }
}

/** For the end of the work on many: fails with what failed first, once everything else is done. */
export function throwFirstFailure(failed: FailedItem<unknown>[]): void {
  const [first] = failed
  if (first) throw new Error(`${failed.length} could not be worked on, the first of them`, { cause: first.error })
}
