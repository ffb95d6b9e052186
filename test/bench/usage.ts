import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './load.ts'
import { type Check, judge } from './measure.ts'

const TICK_MS = 10
const EVERY_MS = 1_000
/** For each half of the last half to mean something. */
const ENOUGH_SAMPLES = 8

/** Milliseconds, in steps of ten, that the process has used so far; on Linux only, else 0. */
export async function readProcessorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name, which may be anything in brackets: the 12th and the 13th field are ticks of user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
}

/** Reads once a second how much memory the process holds, in MB, until it is stopped; on Linux only. */
export function watchMemory(pid: number): { stop: () => Promise<number[]> } {
  const stopping = new AbortController()
  const samples: number[] = []
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
      if (kilobytes) samples.push(Number(kilobytes) / 1024)
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await watching
      return samples
    },
  }
}

/** Holds the samples, in MB, against what the service may need. */
export function judgeMemory(samples: number[]): Check[] {
  const checks: Check[] = []
  if (samples.length === 0) return checks
  const most = Math.max(...samples)
  checks.push({ what: 'most, MB', value: most, ...judge(most, { atMost: 250 }) })
  if (samples.length < ENOUGH_SAMPLES) return checks
  const quarter = Math.floor(samples.length / 4)
  const third = median(samples.slice(-2 * quarter, -quarter))
  const last = median(samples.slice(-quarter))
  const growth = ((last - third) / third) * 100
  checks.push({ what: 'growth over the last half, %', value: growth, ...judge(growth, { atMost: 5 }) })
  return checks
}
