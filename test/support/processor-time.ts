import { readFile } from 'node:fs/promises'

const TICK_MS = 10

/** Milliseconds, in steps of ten, that the process has used so far; on Linux only, else 0. */
export async function readProcessorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name, which may be anything in brackets: the 12th and the 13th field are ticks of user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
}
