import { readFile } from 'node:fs/promises'

const TICK_MS = 10

/** Returns the processor time of a process so far, in milliseconds, in steps of ten; 0 on systems other than Linux. */
export const readProcessorTime = async (pid: number): Promise<number> => (await readProcessorTimes(pid)).own

/** Returns the processor time of a process and of its ended children, and the id of its parent. */
export async function readProcessorTimes(pid: number): Promise<{ own: number; ofEnded: number; parent: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name in parentheses may contain anything. After it, the 12th and 13th fields are ticks of user and system time, the next two the children's.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = (first: number) => (Number(fields[first] ?? 0) + Number(fields[first + 1] ?? 0)) * TICK_MS
  return { own: ticks(11), ofEnded: ticks(13), parent: Number(fields[1] ?? 0) }
}
