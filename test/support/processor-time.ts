import { readFile } from 'node:fs/promises'

const TICK_MS = 10

/** Milliseconds, in steps of ten, that the process has used so far; on Linux only, else 0. */
export const readProcessorTime = async (pid: number): Promise<number> => (await readProcessorTimes(pid)).own

/** The same, with that of its children which have ended, and the process that it is a child of. */
export async function readProcessorTimes(pid: number): Promise<{ own: number; ofEnded: number; parent: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name, which may be anything in brackets: the 12th and the 13th field are ticks of user and system time, the next two the children's.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = (first: number) => (Number(fields[first] ?? 0) + Number(fields[first + 1] ?? 0)) * TICK_MS
  return { own: ticks(11), ofEnded: ticks(13), parent: Number(fields[1] ?? 0) }
}
