import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { waitUntil } from './wait-until.ts'

const V1 = '/sys/fs/cgroup/memory'
const V2 = '/sys/fs/cgroup'
const isV1 = existsSync(`${V1}/memory.limit_in_bytes`)

/** True if this process can limit the memory of others with a control group, which takes root on Linux. */
export const canLimitMemory = process.getuid?.() === 0 && (isV1 || existsSync(`${V2}/cgroup.procs`))

/** A control group with a memory limit and without swap. */
export type MemoryLimit = {
  /** Returns a shell command that runs a program in the group. The program sees the limit in the same file as in a container. */
  wrap: (command: string) => string
  /** Reads the peak memory of all processes in the group in megabytes, including cached file pages. */
  readPeak: () => Promise<number>
  /** Counts the processes that the kernel killed because of the limit. */
  countKills: () => Promise<number>
  /** Kills the remaining processes of the group, and removes the group. */
  remove: () => Promise<void>
}

export async function limitMemory(name: string, megabytes: number): Promise<MemoryLimit> {
  const group = `${isV1 ? V1 : V2}/${name}-${process.pid}`
  await mkdir(group)
  const bytes = String(megabytes * 1024 ** 2)
  const settings = isV1
    ? { 'memory.limit_in_bytes': bytes, 'memory.swappiness': '0' }
    : { 'memory.max': bytes, 'memory.swap.max': '0' }
  for (const [file, value] of Object.entries(settings)) await writeFile(`${group}/${file}`, value)
  const shown = isV1 ? `mount --bind ${group} ${V1}` : `mount --bind ${group}/memory.max ${V2}/memory.max`
  return {
    wrap: (command) => `echo $$ > ${group}/cgroup.procs && exec unshare --mount /bin/sh -c '${shown} && ${command}'`,
    readPeak: async () =>
      Number(await readFile(`${group}/${isV1 ? 'memory.max_usage_in_bytes' : 'memory.peak'}`, 'utf8')) / 1024 ** 2,
    countKills: async () => {
      const counts = await readFile(`${group}/${isV1 ? 'memory.oom_control' : 'memory.events'}`, 'utf8')
      return Number(/^oom_kill (\d+)$/m.exec(counts)?.[1] ?? 0)
    },
    remove: async () => {
      await waitUntil("the group's processes to end", async () => {
        const pids = (await readFile(`${group}/cgroup.procs`, 'utf8')).split('\n').filter(Boolean)
        for (const pid of pids) process.kill(Number(pid), 'SIGKILL')
        return pids.length === 0 || undefined
      })
      await rmdir(group)
    },
  }
}
