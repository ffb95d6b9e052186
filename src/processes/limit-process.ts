import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** What a process may use beyond what it has used up to now. */
export type Limits = { bytes: number; cpuSeconds: number }

const run = promisify(execFile)
const LOOK_EVERY_MS = 100
/** Of its own time a process on a busy machine gets this part at least. */
const SHARE_OF_TIME = 4

/** Bytes that a process holds in memory; null where it is over, or the system does not tell. */
type Measure = (pid: number) => Promise<number | null>

const measures: Record<'proc' | 'ps', Measure> = {
  proc: (pid) => readKilobytes(pid, 'VmRSS').catch(() => null),
  ps: (pid) =>
    run('ps', ['-o', 'rss=', '-p', String(pid)]).then(
      ({ stdout }) => Number(stdout) * 1_024 || null,
      () => null,
    ),
}

/** How processes can be limited here: by the system, or by looking at them all the time; null: not at all. */
export async function findWayToLimit(): Promise<'prlimit' | keyof typeof measures | null> {
  const hasPrlimit = run('prlimit', ['--pid', String(process.pid), '--data']).then(
    () => true,
    () => false,
  )
  if (await hasPrlimit) return 'prlimit'
  for (const way of ['proc', 'ps'] as const) if ((await measures[way](process.pid)) !== null) return way
  return null
}

/**
 * Limits a running process. What is beyond the limits ends by a signal: of the system's (`SIGXCPU`, or what a program does that gets no
 * memory) or, where the system limits nobody, by {@link Watch}.
 */
export async function limitProcess(pid: number, limits: Limits): Promise<Watch> {
  if (await limitBySystem(pid, limits)) return { exceeded: () => null, [Symbol.dispose]() {} }
  const way = await findWayToLimit()
  return watch(pid, limits, measures[way === 'ps' ? 'ps' : 'proc'])
}

/** Looks at a process until it is disposed of. @property exceeded what it was killed for. */
export type Watch = Disposable & { exceeded: () => 'memory' | 'time' | null }

/** A buffer counts as data, which V8's own limits leave out. @returns whether the system has taken the limits. */
async function limitBySystem(pid: number, { bytes, cpuSeconds }: Limits): Promise<boolean> {
  try {
    const data = await readKilobytes(pid, 'VmData') // far more than it uses: what the engine has set apart
    const cpu = Math.ceil(cpuSeconds)
    // The soft limit ends it by a signal that tells why.
    await run('prlimit', ['--pid', String(pid), `--data=${data + bytes}`, `--cpu=${cpu}:${cpu + 5}`, '--core=0'])
    return true
  } catch {
    return false // it may not, as where a lower limit is set already
  }
}

function watch(pid: number, { bytes, cpuSeconds }: Limits, measure: Measure): Watch {
  const stop = new AbortController()
  let exceeded: ReturnType<Watch['exceeded']> = null
  const begin = performance.now()
  const look = async () => {
    const before = (await measure(pid)) ?? 0
    while (!stop.signal.aborted && exceeded === null) {
      if (((await measure(pid)) ?? 0) > before + bytes) exceeded = 'memory'
      else if (performance.now() - begin > cpuSeconds * 1_000 * SHARE_OF_TIME) exceeded = 'time'
      else await sleep(LOOK_EVERY_MS, undefined, { ref: false })
    }
    if (exceeded !== null && !stop.signal.aborted) process.kill(pid, 'SIGKILL')
  }
  look()
  return { exceeded: () => exceeded, [Symbol.dispose]: () => stop.abort() }
}

async function readKilobytes(pid: number, name: 'VmData' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
  if (kilobytes === undefined) throw new Error(`The system does not tell the ${name} of a process`)
  return Number(kilobytes) * 1_024
}
