import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { Remux, Remuxed } from '../domain/submissions/join.ts'

/** Megabytes of the thread's heap: what is read and written goes through in pieces. */
const MAX_HEAP_MB = 192
/** For so long a thread may take, and for so long more for each megabyte. It takes a small part of that, even on a busy machine. */
const LIMIT_MS = 60_000
const LIMIT_MS_A_MB = 1_000

/**
 * Remuxes in a thread of its own, so that requests are answered meanwhile. What the recording makes of it, the thread dies of alone; and one
 * that comes to no end, as some that are damaged don't, is ended: the recordings behind it wait for it.
 */
export const remuxInThread: Remux = async (segments, to) => {
  const sizes = await Promise.all(segments.map((segment) => stat(segment)))
  const megabytes = sizes.reduce((sum, { size }) => sum + size, 0) / 1e6
  return remuxWithin(LIMIT_MS + megabytes * LIMIT_MS_A_MB, segments, to)
}

/** @throws Error for what is no recording, and for what is not done within so many milliseconds. */
export async function remuxWithin(milliseconds: number, ...[segments, to]: Parameters<Remux>): Promise<Remuxed> {
  const worker = new Worker(new URL('./remux-worker.ts', import.meta.url), {
    workerData: { segments, to },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  worker.unref() // a process that stops does not wait: the job is done again
  const { promise, resolve, reject } = Promise.withResolvers<Remuxed>()
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('The thread ended without a result')))
  const limit = setTimeout(() => reject(new Error('The recording comes to no end')), milliseconds).unref()
  try {
    return await promise
  } finally {
    clearTimeout(limit)
    await worker.terminate()
  }
}
