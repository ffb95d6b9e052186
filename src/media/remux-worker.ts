import { parentPort, workerData } from 'node:worker_threads'
import { remux } from './remux.ts'

// The thread that remuxInThread starts: one recording, then it ends.
parentPort?.postMessage(await remux(workerData.segments, workerData.to))
