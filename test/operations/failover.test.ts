import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDb, openPool } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { factories, systemOn } from '../support/factories.ts'
import { canFailOver, startPatroni } from '../support/patroni.ts'
import { type ServiceProcess, startProcess } from '../support/processes.ts'
import { followFeed, keepInviting } from '../support/stubborn-clients.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Longer than Patroni's ttl of 20 s, so another node takes over before the hung one wakes up. */
const HANGS_MS = 38_000
const USER = 'assessments'
const GAPS = 'SELECT count(*)::int AS gaps FROM missing_event_positions'

let cluster: Awaited<ReturnType<typeof startPatroni>>
let services: ServiceProcess[]
let access: { urls: string[]; key: string; assessmentId: string }

describe.runIf(canFailOver)('a Patroni cluster with the files of ops/ha', () => {
  beforeAll(async () => {
    cluster = await startPatroni()
    await cluster.query('postgres', 'postgres', `CREATE ROLE ${USER} LOGIN PASSWORD 'of-a-drill'`)
    await cluster.query('postgres', 'postgres', `CREATE DATABASE ${USER} OWNER ${USER}`)
    const url = cluster.url(USER, USER)
    await migrate(url)
    const db = createDb(openPool(url, { max: 2 }))
    const make = factories(systemOn(db))
    const { id, key } = await make.organization()
    const { id: assessmentId } = await make.assessment(id)
    await db.$disconnect()
    const settings = {
      DATABASE_URL: url,
      DATABASE_READ_URL: cluster.urlsOfNodes(USER, USER).join(),
      RATE_LIMIT_STANDARD: '1000000',
    }
    services = await Promise.all([startProcess(settings), startProcess(settings)])
    access = { urls: services.map(({ url }) => url), key, assessmentId }
  })
  afterAll(() => cluster?.dispose())

  const query = (sql: string) => cluster.query(USER, USER, sql)
  const count = async (sql: string): Promise<number> => Object.values((await query(sql))[0]!)[0] as number

  /** Runs clients that create invites and a reader of the feed while the failure happens. @returns the lost invites and new gaps. */
  async function runWithLoad(name: string, happens: (clients: ReturnType<typeof keepInviting>) => Promise<void>) {
    const [gaps, lines] = [await count(GAPS), services.map((service) => service.log().length)]
    const reader = followFeed(access)
    const clients = keepInviting(access)
    await clients.made(100)
    await happens(clients)
    await clients.made(100)
    await clients.stop()
    await cluster.settled()
    await waitUntil('all events to be sequenced', async () =>
      (await count('SELECT count(*)::int FROM events WHERE position IS NULL')) === 0 ? true : undefined,
    )
    await reader.stop()
    const known = new Set((await query('SELECT id FROM invites')).map(({ id }) => id))
    const lost = clients.acknowledged.filter(({ id }) => !known.has(id)).length
    const refused = clients.refused()
    const away = services.map(
      (service, i) =>
        service
          .log()
          .slice(lines[i])
          .filter(({ msg }) => msg.startsWith('the database is unreachable')).length,
    )
    process.stdout.write(
      `${name}: ${clients.acknowledged.length} acknowledged, ${lost} lost, ${refused.length} answered 503, ${clients.longestPause().toFixed(1)} s without writes, lines of the outage ${away}\n`,
    )
    expect(refused.filter(({ status, retryAfter }) => `${status} ${retryAfter}` !== '503 5')).toEqual([])
    expect(reader.contradictions).toEqual([])
    for (const service of services) expect(service.log().filter(({ msg }) => msg.startsWith('request failed'))).toEqual([])
    return { lost, gaps: (await count(GAPS)) - gaps }
  }

  it("loses nothing and opens one gap when the primary's machine dies", async () => {
    const met = await runWithLoad('the primary dies', async () => {
      const died = await cluster.leader()
      await cluster.signal(died, 'SIGKILL')
      await waitUntil('another leader', async () => ![undefined, died].includes(await cluster.leader()) || undefined)
      await cluster.startAgain(died)
    })
    expect(met).toEqual({ lost: 0, gaps: 1 })
  })

  it('loses nothing when the primary hangs, and wakes after another has taken over', async () => {
    const met = await runWithLoad('the primary hangs', async () => {
      const hangs = await cluster.leader()
      await cluster.signal(hangs, 'SIGSTOP')
      await sleep(HANGS_MS)
      await cluster.signal(hangs, 'SIGCONT')
    })
    expect(met).toEqual({ lost: 0, gaps: 1 })
  })

  it('continues by itself when the synchronous standby hangs', async () => {
    const met = await runWithLoad('the synchronous standby hangs', async (clients) => {
      const hangs = await cluster.synchronousStandby()
      await cluster.signal(hangs, 'SIGSTOP')
      await clients.made(100)
      await cluster.signal(hangs, 'SIGCONT')
    })
    expect(met).toEqual({ lost: 0, gaps: 0 })
  })

  it('reuses no position when a primary with asynchronous standbys dies', async () => {
    await cluster.configure({ synchronous_mode: false })
    await cluster.settled({ synchronous: false })
    const { gaps } = await runWithLoad('the primary dies, asynchronous', async () => {
      const died = await cluster.leader()
      await cluster.signal(died, 'SIGKILL')
      await waitUntil('another leader', async () => ![undefined, died].includes(await cluster.leader()) || undefined)
      await cluster.startAgain(died)
      await cluster.configure({ synchronous_mode: true })
    })
    expect(gaps).toBe(1)
  })
})
