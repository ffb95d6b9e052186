import { setTimeout as sleep } from 'node:timers/promises'
import { INVITATION_EMAILS } from '../../src/jobs/queue.ts'
import { invitation } from './cases.ts'
import type { BenchDatabase } from './database.ts'
import type { Organizations } from './fill.ts'
import { keyHeader } from './load.ts'
import type { Sink } from './mail-sink.ts'
import { type Check, judge, type Result } from './measure.ts'
import { startService } from './rivals.ts'
import { askSteadily } from './steady.ts'

type Surroundings = { database: BenchDatabase; organizations: Organizations; sink: Sink; mails: number; seconds: number }

/** Which processes share the work. The first is the one that is asked meanwhile. */
const DEPLOYMENTS = {
  'one worker': ['worker'],
  'one process for all': ['all'],
  'api and worker': ['api', 'worker'],
} as const
type Role = 'all' | 'api' | 'worker'

/** The case's name. */
export const DISPATCH = 'mail dispatch'
const MAKERS = 16
const WARM_UP_MS = 1_000
const DISPATCHED_WITHIN_MS = 300_000

/** How fast queued mails go out, and what that does to those who ask for something at the time. No service runs before. */
export async function measureDispatch(surroundings: Surroundings): Promise<Result> {
  const checks: Check[] = []
  await queueMails(surroundings, Object.keys(DEPLOYMENTS).length)
  for (const [name, roles] of Object.entries(DEPLOYMENTS)) {
    const { rate, idle, busy } = await dispatch(surroundings, roles)
    checks.push({ what: `${name}: mails/s`, value: rate, ...(name === 'one worker' && judge(rate, { atLeast: 200 })) })
    if (idle === undefined || busy === undefined) continue
    checks.push({ what: `${name}: read, nothing to mail, p50 ms`, value: idle })
    checks.push({ what: `${name}: read, while mailing, p50 ms`, value: busy })
    checks.push({ what: `${name}: p50 while mailing / without`, value: busy / idle, ...judge(busy / idle, { atMost: 1.5 }) })
  }
  return { name: DISPATCH, variants: [], checks }
}

/**
 * Lets some of the mails go when the processes have answered for a while.
 *
 * @returns mails a second from the first to the last, and median response times in milliseconds, where there is somebody to ask.
 */
async function dispatch({ database, organizations, sink, mails, seconds }: Surroundings, roles: readonly Role[]) {
  const servers = await Promise.all(roles.map((role) => startService(database, { smtpUrl: sink.url, role })))
  const ask = (during: Promise<unknown>) => askSteadily(servers[0]!, organizations.large, during)
  const listen = (during: Promise<unknown>) => (roles[0] === 'worker' ? during.then(() => undefined) : ask(during))
  await listen(sleep(WARM_UP_MS))
  const idle = await listen(sleep(seconds * 1000))
  await sink.reset()
  await release(database, mails)
  await waitUntilArrived(sink, 1)
  const busy = await listen(waitUntilArrived(sink, mails))
  const { first, last } = await sink.count()
  await Promise.all(servers.map((server) => server.stop()))
  return { rate: (mails - 1) / ((last - first) / 1000), idle, busy }
}

/** Invites candidates as clients do, by a process that sends no mail, so that each run has its mails, and puts the jobs off. */
async function queueMails({ database, organizations: { service }, sink, mails }: Surroundings, runs: number): Promise<void> {
  const server = await startService(database, { smtpUrl: sink.url, role: 'api' })
  let left = mails * runs
  const invite = async () => {
    while (left-- > 0) {
      const { path, body } = invitation(service.assessmentIds[left % service.assessmentIds.length]!)
      const headers = { ...keyHeader(path, service.key), 'content-type': 'application/json' }
      const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body!()) })
      await response.arrayBuffer()
      if (response.status !== 201) throw new Error(`POST ${path}: status ${response.status}`)
    }
  }
  await Promise.all(Array.from({ length: MAKERS }, invite))
  await server.stop()
  await database.pool.query(
    `UPDATE pgboss.job SET start_after = now() + interval '1 day' WHERE name = $1 AND state = 'created'`,
    [INVITATION_EMAILS],
  )
}

/** The workers see them at their next look, at most 2 s later. */
async function release({ pool }: BenchDatabase, mails: number): Promise<void> {
  const { rowCount } = await pool.query(
    `UPDATE pgboss.job SET start_after = now() WHERE name = $1 AND id IN
       (SELECT id FROM pgboss.job WHERE name = $1 AND state = 'created' AND start_after > now() LIMIT $2)`,
    [INVITATION_EMAILS, mails],
  )
  if (rowCount !== mails) throw new Error(`${rowCount} mails are queued instead of ${mails}`)
}

async function waitUntilArrived(sink: Sink, mails: number): Promise<void> {
  const deadline = Date.now() + DISPATCHED_WITHIN_MS
  for (;;) {
    const count = await sink.count()
    if (count.mails >= mails) return
    if (Date.now() > deadline) throw new Error(`Only ${count.mails} of ${mails} mails have arrived`)
    await sleep(50)
  }
}
