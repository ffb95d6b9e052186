import { deepStrictEqual, strictEqual } from 'node:assert'
import { existsSync, readFileSync } from 'node:fs'
import { type BenchDatabase, waitForRest } from './database.ts'
import type { OrganizationRows } from './fill-organization.ts'
import { drive, keyHeader, median, type Request } from './load.ts'
import type { Options } from './options.ts'
import type { ServerName, Servers } from './servers.ts'

/** Requests to a server as one organization. */
export type Target = { server: ServerName; organization: OrganizationRows; requests: Request[] }
/** Measured values of each case and server, one per round. */
export type Figures = Record<string, Record<string, number[]>>

// Wait for running queries and for unsent mails and webhooks after each target, so that they do not slow down the next one.
const QUIET_WITHIN = 20
const QUERIES = `SELECT count(*) AS rest FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()`
const SENT_WITHIN = 300
const MESSAGES = `SELECT (SELECT count(*) FROM invite_emails WHERE state = 'queued' AND organization_id = $1)
  + (SELECT count(*) FROM webhook_deliveries WHERE state = 'waiting' AND organization_id = $1) AS rest`

/** Measures every target once in each round, so that changes of the machine's load affect all targets alike. */
export async function measureInTurn(
  targets: Record<string, Target>,
  servers: Servers,
  database: BenchDatabase,
  { rounds, seconds, warmUp, connections = 1 }: Options & { connections?: number },
): Promise<Figures> {
  await verifyAnswers(Object.values(targets), servers)
  const run = async ({ server, organization, requests }: Target, duration: number) => {
    const sample = await drive({ url: servers[server].url, key: organization.key, requests, connections }, duration)
    await waitForRest(database, QUERIES, [], QUIET_WITHIN)
    if (requests[0]?.body && server === 'service') await waitForRest(database, MESSAGES, [organization.id], SENT_WITHIN)
    return sample
  }
  const figures: Figures = {}
  for (const [name, target] of Object.entries(targets)) {
    figures[name] = { throughput: [], p50: [] }
    await run(target, warmUp)
  }
  for (let round = 0; round < rounds; round++)
    for (const [name, target] of Object.entries(targets)) {
      const sample = await run(target, seconds)
      figures[name]!.throughput!.push(sample.throughput)
      figures[name]!.p50!.push(sample.p50)
    }
  return figures
}

/** Fields that differ between two invites. */
const OWN_VALUES = ['id', 'assessmentId', 'recipientEmail', 'sentAt', 'expiresAt']

/** Sends one of the service's requests to the other servers, and compares their responses. @throws Error with the difference. */
async function verifyAnswers([own, ...others]: Target[], servers: Servers): Promise<void> {
  for (const other of others.filter(({ server }) => server !== own!.server)) {
    const [expected, actual] = [await ask(own!, servers), await ask(other, servers)]
    deepStrictEqual(actual, expected, `${other.server} answers otherwise than the service`)
  }
}

async function ask({ server, organization: { key }, requests }: Target, servers: Servers) {
  const [{ path, body }, { url }] = [requests[requests.length >> 1]!, servers[server]]
  const response = await fetch(url + path, {
    headers: { ...keyHeader(path, key), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body()) }),
  })
  const text = await response.text()
  strictEqual(response.status, body ? 201 : 200, `${server} answers ${path} with ${response.status}: ${text}`)
  // Addresses of other pages contain the server's port.
  const found = JSON.parse(text.replaceAll(url, ''))
  if (body) for (const field of OWN_VALUES) found.invite[field] = typeof found.invite[field]
  return found
}

/** Measures the memory of a process until the promise settles. Works on Linux only. */
export async function watchMemory(pid: number, during: Promise<unknown>): Promise<Figures> {
  const samples: number[] = []
  const look = () => {
    const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : ''
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
    if (kilobytes) samples.push(Number(kilobytes) / 1024)
  }
  const looking = setInterval(look, 1_000)
  await during.finally(() => clearInterval(looking))
  const quarter = Math.floor(samples.length / 4)
  const [third, last] = [median(samples.slice(-2 * quarter, -quarter)), median(samples.slice(-quarter))]
  const growth = quarter < 2 ? [] : [(last / third - 1) * 100]
  return { service: { 'most, MB': samples.length > 0 ? [Math.max(...samples)] : [], 'growth over the last half, %': growth } }
}
