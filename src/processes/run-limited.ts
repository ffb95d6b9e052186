import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { type Limits, limitProcess } from './limit-process.ts'
import type { ChildMessage } from './run-task.ts'

/** glibc settings: memory freed by any thread is reused and returned to the system. Without them streamed media took half as much again. */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '65536' }
/** Wall-clock timeout as a multiple of the CPU limit, for slow disks and busy machines. */
const WALL_CLOCK_FACTOR = 20
/** Lower priority than the service (`nice`): at 5 a process gets about a third of the CPU share. */
const NICENESS = 5
/** Characters of standard error that are logged. */
const MAX_STDERR_LENGTH = 1_000
/** Signals of a process without memory or beyond its CPU limit. */
const INPUT_FAULT_SIGNALS: NodeJS.Signals[] = ['SIGXCPU', 'SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV']

/** @property path of the main module. @property heap Node options. @property patience milliseconds in addition to the task's limit. */
export type Program = { path: string; heap: string[]; timeoutMs: number }

/** The process ended without a result. @property isOfInput true if the input is at fault; otherwise a retry may succeed. */
export class ProcessEnded extends Error {
  readonly isInputFault: boolean

  constructor(isOfInput: boolean, reason: string) {
    super(reason)
    this.name = 'ProcessEnded'
    this.isInputFault = isOfInput
  }
}

/**
 * Runs a task in a child process at low priority, without settings, secrets, or connections. Harmful input only ends that process.
 *
 * @param limits beyond the process's initial usage, buffers included.
 * @param takePart processes each part of the result. The next part arrives when its promise resolves.
 * @throws ProcessEnded, or the error of takePart.
 */
export async function runLimited<Outcome, Part = never>(
  program: Program,
  limits: Limits,
  work: object,
  takePart?: (part: Part) => Promise<void>,
): Promise<Outcome> {
  // Only the variables needed to start: no secrets.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...program.heap, program.path], {
    env: { PATH, NODE_COMPILE_CACHE, ...ALLOCATOR },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced', // supports typed arrays
    detached: true, // leads a process group, so that its children are killed with it
  })
  child.unref() // the service may exit without waiting
  child.channel?.unref()
  const timeout = setTimeout(() => endGroup(child), program.timeoutMs + limits.cpuSeconds * 1_000 * WALL_CLOCK_FACTOR).unref()
  try {
    return await sendTask<Outcome, Part>(child, limits, work, async (part) => {
      await takePart?.(part)
      timeout.refresh()
    })
  } finally {
    clearTimeout(timeout)
    endGroup(child)
  }
}

/** Kills the process group: the process and all it started, e.g. ffmpeg. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}

/** Limits the process when it has started, then sends it the task. */
async function sendTask<Outcome, Part>(
  child: ChildProcess,
  limits: Limits,
  work: object,
  takePart: (part: Part) => Promise<void>,
): Promise<Outcome> {
  using cleanup = new DisposableStack()
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const stderrTail = keepTail(child)
  let exceeded = () => null as string | null
  child.on('message', (message: ChildMessage<Outcome, Part>) => {
    if ('outcome' in message) return resolve(message.outcome)
    if ('part' in message) return void takePart(message.part).then(() => child.connected && child.send({ isTaken: true }), reject)
    limitProcess(child.pid!, limits).then((watch) => {
      if (cleanup.disposed) return watch[Symbol.dispose]()
      exceeded = cleanup.use(watch).exceeded
      child.send(work)
    }, reject)
  })
  child.once('spawn', () => setPriority(child.pid!, NICENESS))
  child.once('error', reject)
  child.once('close', (code, signal) => {
    const isOfInput = exceeded() !== null || code === 0 || (signal !== null && INPUT_FAULT_SIGNALS.includes(signal))
    const reason = exceeded() ?? signal ?? code
    reject(new ProcessEnded(isOfInput, isOfInput ? `It ended: ${reason}` : `It ended: ${reason} ${stderrTail()}`))
  })
  return await promise
}

/** Keeps the end of standard error, for the log. */
function keepTail({ stderr }: ChildProcess): () => string {
  let end = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    end = (end + text).slice(-MAX_STDERR_LENGTH)
  })
  return () => end
}
