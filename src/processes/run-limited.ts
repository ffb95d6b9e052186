import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Said } from './do-one-work.ts'
import { type Limits, limitProcess } from './limit-process.ts'

/**
 * For the allocator of glibc: what each thread has freed goes to the others, and back to the system. The pictures and sounds that pass through
 * left half as much again in memory.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '65536' }
/** By the clock: what has not used up its time by then waits for a disk, or a machine that is far too busy. */
const PATIENCE = 20
/** Below that of the service, as `nice` has it: requests come first, and what is done here gets a third of what they get. */
const NICENESS = 5
/** Of what it says about its end so much is logged. */
const SAID_LENGTH = 1_000
/** How a process ends that got no memory, or has used up its time. */
const OF_INPUT: NodeJS.Signals[] = ['SIGXCPU', 'SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV']

/** @property path of the module that it begins with. @property heap Node's options for it. @property patience milliseconds, besides those for its work. */
export type Program = { path: string; heap: string[]; patience: number }

/** A process has ended without an outcome. @property isOfInput whether what it was given is at fault; otherwise another try may succeed. */
export class ProcessEnded extends Error {
  readonly isOfInput: boolean

  constructor(isOfInput: boolean, reason: string) {
    super(reason)
    this.name = 'ProcessEnded'
    this.isOfInput = isOfInput
  }
}

/**
 * Has a program do one work in a process of its own, behind everything else that the machine has to do. What the work makes of it, that
 * process dies of alone. It has no settings, no secrets and no connection to anything.
 *
 * @param limits beyond what the process has when it begins, buffers and all.
 * @param takePart gets each part of the result. The process sends the next one when the returned promise resolves.
 * @throws ProcessEnded, or what takePart throws.
 */
export async function runLimited<Outcome, Part = never>(
  program: Program,
  limits: Limits,
  work: object,
  takePart?: (part: Part) => Promise<void>,
): Promise<Outcome> {
  // Of the environment nothing but what a program needs to start: no secrets.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...program.heap, program.path], {
    env: { PATH, NODE_COMPILE_CACHE, ...ALLOCATOR },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced', // bytes as they are
    detached: true, // at the head of a group, with which ends what it has started
  })
  child.unref() // a process that stops does not wait
  child.channel?.unref()
  const patience = setTimeout(() => endGroup(child), program.patience + limits.cpuSeconds * 1_000 * PATIENCE).unref()
  try {
    return await order<Outcome, Part>(child, limits, work, async (part) => {
      await takePart?.(part)
      patience.refresh()
    })
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
async function order<Outcome, Part>(
  child: ChildProcess,
  limits: Limits,
  work: object,
  takePart: (part: Part) => Promise<void>,
): Promise<Outcome> {
  using cleanup = new DisposableStack()
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const said = keepEnd(child)
  let exceeded = () => null as string | null
  child.on('message', (message: Said<Outcome, Part>) => {
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
    const isOfInput = exceeded() !== null || code === 0 || (signal !== null && OF_INPUT.includes(signal))
    const reason = exceeded() ?? signal ?? code
    reject(new ProcessEnded(isOfInput, isOfInput ? `It ended: ${reason}` : `It ended: ${reason} ${said()}`))
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
