import { Worker } from 'node:worker_threads'
import type { Remux, Remuxed } from '../domain/submissions/join.ts'

/** Megabytes of the thread's heap: what is read and written goes through in pieces. */
const MAX_HEAP_MB = 192

/** Remuxes in a thread of its own, so that requests are answered meanwhile. What the recording makes of it, the thread dies of alone. */
export const remuxInThread: Remux = (segments, to) =>
  new Promise<Remuxed>((resolve, reject) => {
    const worker = new Worker(new URL('./remux-worker.ts', import.meta.url), {
      workerData: { segments, to },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The thread ended without a result')))
    worker.unref() // a process that stops does not wait: the job is done again
  })
