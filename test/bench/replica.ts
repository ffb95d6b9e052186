import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serverPid, startReplica } from '../support/replica.ts'
import type { BenchDatabase } from './database.ts'
import { atTheEnd } from './endings.ts'
import type { Organizations } from './fill.ts'
import { drive } from './load.ts'
import type { Sink } from './mail-sink.ts'
import type { Check, Result } from './measure.ts'
import { startService } from './rivals.ts'

type Surroundings = { database: BenchDatabase; organizations: Organizations; sink: Sink; seconds: number }

/** The case's name. */
export const REPLICA = 'lists from a replica'
const CONNECTIONS = 16
/** The service reads from a replica once it has watched it for a second or two. */
const WARM_UP_SECONDS = 3
/** The unit of /proc, on every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000

/** What a list costs the database without a replica, and with one that answers it. On Linux only. No service runs before. */
export async function measureReplica({ database, organizations, sink, seconds }: Surroundings): Promise<Result> {
  const replica = await copyDatabase(database)
  const checks: Check[] = []
  for (const [name, readUrl] of [
    ['database alone', undefined],
    ['with a replica', replica.url],
  ] as const) {
    const server = await startService(database, { smtpUrl: sink.url, ...(readUrl && { readUrl }) })
    const load = {
      url: server.url,
      key: organizations.large.key,
      requests: [{ path: '/api/v1/invites' }],
      connections: CONNECTIONS,
    }
    await drive(load, WARM_UP_SECONDS)
    const before = await processorTime(database)
    const { throughput, answers } = await drive(load, seconds)
    const spent = (await processorTime(database)) - before
    await server.stop()
    checks.push({ what: `${name}: lists/s`, value: throughput })
    checks.push({ what: `${name}: the database's time a list, us`, value: spent / answers })
  }
  return { name: REPLICA, variants: [], checks }
}

async function copyDatabase(database: BenchDatabase) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-bench-'))
  atTheEnd('the folder of the replica', () => rm(dataDir, { recursive: true, force: true }))
  await chmod(dataDir, 0o755) // under root the server is another user's
  const replica = await startReplica(database, dataDir)
  atTheEnd('the replica', replica.release)
  return replica
}

/** What the server's processes, also those that have ended, have had of the processor, in microseconds. */
async function processorTime(database: BenchDatabase): Promise<number> {
  const server = await serverPid(database)
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  const ticks = stats.map((stat) => {
    // Behind the name, which may hold anything: state, parent, …; the 10th to 13th are the times of it and of the children that ended.
    const [pid] = stat.split(' ', 1)
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [own, system, ended, endedSystem] = fields.slice(11, 15).map(Number) as [number, number, number, number]
    if (Number(pid) === server) return own + system + ended + endedSystem
    return Number(fields[1]) === server ? own + system : 0
  })
  return ticks.reduce((sum, some) => sum + some, 0) * MICROSECONDS_PER_TICK
}
