import type { MediaStore } from '../domain/context.ts'

/** What is done with a media store, as it is counted: as often as the store is asked. */
export const MEDIA_OPERATIONS = ['put', 'get', 'size', 'delete', 'deletePrefix', 'free'] as const
export const MEDIA_OUTCOMES = ['done', 'failed'] as const

/** Told of each operation that has ended: of a `get` once its first byte can be read. */
export type NoteOperation = (
  operation: (typeof MEDIA_OPERATIONS)[number],
  outcome: (typeof MEDIA_OUTCOMES)[number],
  seconds: number,
) => void

/** The same store, whose operations are noted. */
export function measureStore(store: MediaStore, note: NoteOperation): MediaStore {
  const measured = { ...store }
  for (const operation of MEDIA_OPERATIONS) {
    const run = store[operation] as (...given: unknown[]) => Promise<unknown>
    const measure = async (...given: unknown[]) => {
      const began = performance.now()
      const end = (outcome: (typeof MEDIA_OUTCOMES)[number]) => note(operation, outcome, (performance.now() - began) / 1_000)
      try {
        const answer = await run(...given)
        end('done')
        return answer
      } catch (error) {
        end('failed')
        throw error
      }
    }
    Object.assign(measured, { [operation]: measure })
  }
  return measured
}
