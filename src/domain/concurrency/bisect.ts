import { isDatabaseBusy, isDatabaseUnavailable, isLockConflict, isTimeout } from '../../db/errors.ts'

// A statement on many rows may exceed its time limit or fail on one row. It is then repeated on halves.

/** With more failed items than this the cause is not the items. */
const MAX_FAILED = 20

export type FailedItem<T> = { item: T; error: unknown }

/**
 * Processes all items together; after a timeout or an error, each half separately, and so on. Failed items don't stop the others.
 *
 * @returns the failed items. @throws the error if the database is away or full, or after {@link MAX_FAILED} failed items. Items locked by
 *   others count as failed, and are due again next time.
 */
export async function bisectBatch<T>(items: T[], work: (items: T[]) => Promise<void>): Promise<FailedItem<T>[]> {
  const failed: FailedItem<T>[] = []
  const pendingBatches = items.length > 0 ? [items] : []
  for (let batch = pendingBatches.pop(); batch; batch = pendingBatches.pop()) {
    try {
      await work(batch)
    } catch (error) {
      if (isDatabaseUnavailable(error) || (isDatabaseBusy(error) && !isTimeout(error) && !isLockConflict(error))) throw error
      const middle = Math.ceil(batch.length / 2)
      if (batch.length > 1) pendingBatches.push(batch.slice(middle), batch.slice(0, middle))
      else if (failed.push({ item: batch[0]!, error }) > MAX_FAILED) throw error
    }
  }
  return failed
}

/** Processes items one by one, as {@link bisectBatch} does in the end. */
export async function processEach<T>(items: T[], work: (item: T) => Promise<void>): Promise<FailedItem<T>[]> {
  const failed: FailedItem<T>[] = []
  for (const item of items) failed.push(...(await bisectBatch([item], () => work(item))))
  if (failed.length > MAX_FAILED) throw failed[0]!.error
  return failed
}

/**
 * Repeats a limited statement until it affects fewer rows than the limit. Halves the limit after a timeout.
 *
 * @param work gets the limit, returns the number of affected rows.
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
