import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Limits beyond the process's current usage. */
export type Limits = { bytes: number; cpuSeconds: number }

const run = promisify(execFile)
const POLL_MS = 100
/** On a busy machine a process gets at least a quarter of a CPU, so elapsed time may be four times its CPU limit. */
const WALL_CLOCK_FACTOR = 4

/** Reads the resident memory in bytes; null if the process ended, or the system doesn't tell. */
type ReadMemory = (pid: number) => Promise<number | null>

const memoryReaders: Record<'proc' | 'ps', ReadMemory> = {
  proc: (pid) => readKilobytes(pid, 'VmRSS').catch(() => null),
  ps: (pid) =>
    run('ps', ['-o', 'rss=', '-p', String(pid)]).then(
      ({ stdout }) => Number(stdout) * 1_024 || null,
      () => null,
    ),
}

/** Finds a way to limit processes: prlimit, or polling /proc or ps; null if there is none. */
export async function findLimiter(): Promise<'prlimit' | keyof typeof memoryReaders | null> {
  const hasPrlimit = run('prlimit', ['--pid', String(process.pid), '--data']).then(
    () => true,
    () => false,
  )
  if (await hasPrlimit) return 'prlimit'
  for (const way of ['proc', 'ps'] as const) if ((await memoryReaders[way](process.pid)) !== null) return way
  return null
}

/** Limits a running process. Beyond the limits it ends by a signal, from the system (e.g. `SIGXCPU`) or, without prlimit, from {@link Watch}. */
export async function limitProcess(pid: number, limits: Limits): Promise<Watch> {
  if (await limitBySystem(pid, limits)) return { exceeded: () => null, [Symbol.dispose]() {} }
  const way = await findLimiter()
  return watch(pid, limits, memoryReaders[way === 'ps' ? 'ps' : 'proc'])
}

/** Polls a process until disposed. @property exceeded the reason why it was killed. */
export type Watch = Disposable & { exceeded: () => 'memory' | 'time' | null }

/** Limits data, which includes buffers, unlike V8's own limits. @returns false if the system refused. */
async function limitBySystem(pid: number, { bytes, cpuSeconds }: Limits): Promise<boolean> {
  try {
    const data = await readKilobytes(pid, 'VmData') // far more than the resident memory: V8 reserves it
    const cpu = Math.ceil(cpuSeconds)
    // The soft limit's signal tells the reason.
    await run('prlimit', ['--pid', String(pid), `--data=${data + bytes}`, `--cpu=${cpu}:${cpu + 5}`, '--core=0'])
    return true
  } catch {
    return false // e.g. a lower limit is set already
  }
}

function watch(pid: number, { bytes, cpuSeconds }: Limits, measure: ReadMemory): Watch {
  const stop = new AbortController()
  let exceeded: ReturnType<Watch['exceeded']> = null
  const begin = performance.now()
  const enforceLimits = async () => {
    const before = (await measure(pid)) ?? 0
    while (!stop.signal.aborted && exceeded === null) {
      if (((await measure(pid)) ?? 0) > before + bytes) exceeded = 'memory'
      else if (performance.now() - begin > cpuSeconds * 1_000 * WALL_CLOCK_FACTOR) exceeded = 'time'
      else await sleep(POLL_MS, undefined, { ref: false })
    }
    if (exceeded !== null && !stop.signal.aborted) process.kill(pid, 'SIGKILL')
  }
  enforceLimits()
  return { exceeded: () => exceeded, [Symbol.dispose]: () => stop.abort() }
}

async function readKilobytes(pid: number, name: 'VmData' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
  if (kilobytes === undefined) throw new Error(`The system does not tell the ${name} of a process`)
  return Number(kilobytes) * 1_024
}
