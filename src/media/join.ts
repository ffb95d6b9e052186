import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { type Remux, type Remuxed, UnreadableRecording } from '../domain/submissions/media/join-recording.ts'
import { hasFfmpeg } from './ffmpeg.ts'
import type { Order, Report } from './join-process.ts'
import type { Way } from './join-segments.ts'
import { type Limits, limitProcess } from './limit-process.ts'

const PROGRAM = fileURLToPath(new URL('./join-process.ts', import.meta.url))
/** Megabytes of the heap: what is read and written goes through in pieces. */
const HEAP = ['--max-old-space-size=64', '--max-semi-space-size=1', '--optimize-for-size']
/**
 * For the allocator of glibc: what each thread has freed goes to the others, and back to the system. The pictures and sounds that pass through
 * left half as much again in memory.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '65536' }
/** Beyond what the process has when it begins, buffers and all. Lists of pictures and sounds grow with the length. */
const LIMIT_BYTES = 128_000_000
/** Seconds of a processor's time, and so many more for each megabyte. It takes a small part of that. */
const LIMIT_SECONDS = 5
const LIMIT_SECONDS_A_MB = 0.1
/** By the clock: what has not used up its time by then waits for a disk, or a machine that is far too busy. */
const PATIENCE_MS = 600_000
const PATIENCE = 20
/** Below that of the service, as `nice` has it: requests come first, and what is joined gets a third of what they get. */
const NICENESS = 5

/** Of what it says about its end so much is logged. */
const SAID_LENGTH = 1_000

/** How a process ends that got no memory, or has used up its time. */
const OF_INPUT: NodeJS.Signals[] = ['SIGXCPU', 'SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV']

/**
 * Remuxes in a process of its own, with a limit of memory and of time by the size of the recording, behind everything else that the machine
 * has to do. What the recording makes of it, that process dies of alone. What the library makes nothing of, or dies of, is tried once more
 * in another process, through ffmpeg, where that is installed.
 *
 * @throws UnreadableRecording where the recording is at fault; Error where another try may succeed.
 */
export const remuxInProcess: Remux = async (segments, to) => {
  const sizes = await Promise.all(segments.map((segment) => stat(segment)))
  const megabytes = sizes.reduce((sum, { size }) => sum + size, 0) / 1e6
  const limits = { bytes: LIMIT_BYTES, cpuSeconds: LIMIT_SECONDS + megabytes * LIMIT_SECONDS_A_MB }
  try {
    return await remuxWithin(limits, segments, to)
  } catch (error) {
    if (!(error instanceof UnreadableRecording) || !(await hasFfmpeg())) throw error
    return remuxWithin(limits, segments, to, 'by ffmpeg')
  }
}

/** As {@link remuxInProcess}, within the given limits. */
export async function remuxWithin(limits: Limits, segments: string[], to: string, way: Way = 'mended'): Promise<Remuxed> {
  // Of the environment nothing but what a program needs to start: no secrets.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...HEAP, PROGRAM], {
    env: { PATH, NODE_COMPILE_CACHE, ...ALLOCATOR },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true, // at the head of a group, with which ends what it has started
  })
  child.unref() // a process that stops does not wait: the job is done again
  child.channel?.unref()
  const patience = setTimeout(() => endGroup(child), PATIENCE_MS + limits.cpuSeconds * 1_000 * PATIENCE).unref()
  try {
    return await order(child, limits, { segments, to, way })
  } finally {
    clearTimeout(patience)
    endGroup(child)
  }
}

/** Ends a process that was started as the head of a group, and all that it has started, ffmpeg for one. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // there is none any more
  }
}

/** Gives the process its limits when it has started, then its work. */
async function order(child: ChildProcess, limits: Limits, work: Order): Promise<Remuxed> {
  using cleanup = new DisposableStack()
  const { promise, resolve, reject } = Promise.withResolvers<Remuxed>()
  const said = keepEnd(child)
  let exceeded = () => null as string | null
  child.on('message', (report: Report) => {
    if ('remuxed' in report) return resolve(report.remuxed)
    if ('problem' in report) return reject(report.isOfInput ? new UnreadableRecording(report.problem) : new Error(report.problem))
    limitProcess(child.pid!, limits).then((watch) => {
      if (cleanup.disposed) return watch[Symbol.dispose]()
      exceeded = cleanup.use(watch).exceeded
      child.send(work)
    }, reject)
  })
  child.once('spawn', () => setPriority(child.pid!, NICENESS))
  child.once('error', reject)
  child.once('close', (code, signal) => {
    const reason = exceeded() ?? signal ?? code
    if (exceeded() || code === 0 || (signal && OF_INPUT.includes(signal)))
      return reject(new UnreadableRecording(`The process that was to join it ended: ${reason}`))
    reject(new Error(`The process that joins a recording ended: ${reason} ${said()}`))
  })
  return await promise
}

/** The end of what it writes to its standard error, for the log. */
function keepEnd({ stderr }: ChildProcess): () => string {
  let end = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    end = (end + text).slice(-SAID_LENGTH)
  })
  return () => end
}
