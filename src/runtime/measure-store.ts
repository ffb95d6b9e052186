import type { MediaStore } from '../domain/ports/media-store.ts'

/** Operations of a media store that are measured. */
export const MEDIA_OPERATIONS = ['put', 'get', 'size', 'delete', 'deletePrefix', 'free'] as const
export const MEDIA_OUTCOMES = ['done', 'failed'] as const

/** Records a finished operation. A `get` finishes when its first byte can be read. */
export type RecordMediaOperation = (
  operation: (typeof MEDIA_OPERATIONS)[number],
  outcome: (typeof MEDIA_OUTCOMES)[number],
  seconds: number,
) => void

/** Wraps the store to record its operations. */
export function measureStore(store: MediaStore, record: RecordMediaOperation): MediaStore {
  const measuredStore = { ...store }
  for (const operation of MEDIA_OPERATIONS) {
    const run = store[operation] as (...args: unknown[]) => Promise<unknown>
    const measure = async (...args: unknown[]) => {
      const startedAt = performance.now()
      const recordEnd = (outcome: (typeof MEDIA_OUTCOMES)[number]) =>
        record(operation, outcome, (performance.now() - startedAt) / 1_000)
      try {
        const answer = await run(...args)
        recordEnd('done')
        return answer
      } catch (error) {
        recordEnd('failed')
        throw error
      }
    }
    Object.assign(measuredStore, { [operation]: measure })
  }
  return measuredStore
}
