import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createDb, type Db, openPool } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { factories, systemOn } from '../support/factories.ts'
import { startPostgres } from '../support/postgres.ts'
import { ask, type ServiceProcess, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Connections of the service. */
const POOL_SIZE = 5

let postgres: Awaited<ReturnType<typeof startPostgres>>
let proxy: TcpProxy
let service: ServiceProcess
let db: Db
let key: string
let assessmentId: string

beforeAll(async () => {
  postgres = await startPostgres()
  await migrate(postgres.url)
  proxy = await startTcpProxy({ path: postgres.socket })
  db = createDb(openPool(postgres.url, { max: 4 }))
  const make = factories(systemOn(db))
  const organization = await make.organization()
  key = organization.key
  assessmentId = (await make.assessment(organization.id)).id
  service = await startProcess({
    DATABASE_URL: `postgresql://postgres@127.0.0.1:${proxy.port}/assessments`,
    RATE_LIMIT_STANDARD: '1000000',
    DATABASE_POOL_SIZE: String(POOL_SIZE),
  })
})
beforeEach(() => waitForService())
afterAll(async () => {
  service.kill('SIGTERM')
  await service.exited
  await proxy.cut()
  await db.$disconnect()
  await postgres.close()
})

const BUSY = { status: 503, body: { error: 'The service is busy. Please try again later.' } }
type Answer = { status: number; body: unknown; retryAfter: string | null }

async function send(resource: string, body?: unknown): Promise<Answer> {
  const response = await ask(service, key, resource, body)
  return { status: response.status, body: await response.json(), retryAfter: response.headers.get('retry-after') }
}
const sendInvite = (recipientEmail: string) => send('/invites', { assessmentId, recipientEmail })

/** Waits until a request is answered with 200. */
const waitForService = () => waitUntil('the service to serve', async () => (await send('/tags')).status === 200 || undefined)

/** Starts three clients that create invites, one after the other, until they are stopped. */
function keepInviting() {
  const answers: (Answer & { email: string })[] = []
  let stopped = false
  const run = async () => {
    while (!stopped) {
      const email = `${crypto.randomUUID()}@example.com`
      answers.push({ ...(await sendInvite(email)), email })
      await sleep(20)
    }
  }
  const done = Promise.all(Array.from({ length: 3 }, run))
  return {
    /** Waits for this many more responses. */
    answered: (more: number) => {
      const enough = answers.length + more
      return waitUntil(`${more} answers`, () => answers.length >= enough || undefined)
    },
    stop: async () => {
      stopped = true
      await done
      return answers
    },
  }
}

/** Locks a table against all other transactions. @returns a function that unlocks it. */
async function lockTable(table: 'tags' | 'members'): Promise<() => Promise<unknown>> {
  const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ended = db.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    locked.resolve()
    await over.promise
  })
  const unlock = () => {
    over.resolve()
    return ended
  }
  onTestFinished(async () => void (await unlock()))
  await Promise.race([locked.promise, ended])
  return unlock
}

async function expectAllKept(answers: (Answer & { email: string })[]): Promise<void> {
  const acknowledged = answers.filter(({ status }) => status === 201).map(({ email }) => email)
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(await db.invite.count({ where: { recipientEmail: { in: acknowledged } } })).toBe(acknowledged.length)
}

describe('a database outage', () => {
  it('yields 503 with Retry-After and one log line per outage, then normal service with every acknowledged write', async () => {
    const stops = scaled(2, 24)
    const clients = keepInviting()
    for (let stop = 0; stop < stops; stop++) {
      await clients.answered(10)
      await postgres.stopAtOnce()
      await clients.answered(scaled(100, 40))
      await postgres.start()
      await waitForService()
    }
    const answers = await clients.stop()
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.length).toBeGreaterThan(0)
    expect(service.log().filter(({ msg }) => msg.startsWith('request failed'))).toEqual([])
    for (const { status, body, retryAfter } of refused) expect({ status, body, retryAfter }).toEqual({ ...BUSY, retryAfter: '5' })
    await expectAllKept(answers)
    process.stdout.write(`${answers.length} requests, ${stops} stops, ${refused.length} answered 503\n`)

    await service.waitForLog('the database is back')
    const logged = (start: string) => service.log().filter(({ msg }) => msg.startsWith(start)).length
    expect(logged('the database is unreachable')).toBeGreaterThan(0)
    expect(logged('the database is unreachable')).toBeLessThanOrEqual(stops)
  })

  it('yields 503 if other clients hold all connections of the database', async () => {
    const held: Client[] = []
    onTestFinished(async () => void (await Promise.all(held.map((client) => client.end()))))
    const hold = async () => {
      const client = new Client({ connectionString: postgres.url, application_name: 'holder' })
      client.on('error', () => {}) // the query below may terminate it before it has set its application name
      await client.connect().then(
        () => held.push(client),
        () => client.end(), // the database has no free connection
      )
    }
    const refused = await waitUntil('a request without a connection', async () => {
      const ended = db.$queryRaw`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name <> 'holder' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
      await Promise.all([ended, ...Array.from({ length: 20 }, hold)])
      const answer = await send('/tags')
      return answer.status === 200 ? undefined : answer
    })
    expect(refused).toEqual({ ...BUSY, retryAfter: '5' })
  })

  it('causes few errors and loses no acknowledged write if all backends are terminated repeatedly', async () => {
    const clients = keepInviting()
    for (let i = 0; i < scaled(4, 30); i++) {
      await clients.answered(40)
      await db.$queryRaw`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`
    }
    const answers = await clients.stop()
    await waitForService()
    expect(answers.filter(({ status }) => status !== 201).length).toBeLessThan(answers.length / 4)
    await expectAllKept(answers)
  })
})

describe('an unresponsive database', () => {
  it('costs one slow request per connection, and leaves no broken connection in the pool', async () => {
    proxy.swallow()
    const slow = await Promise.all([send('/tags'), sendInvite('swallowed@example.com')])
    for (const answer of slow) expect(answer).toEqual({ ...BUSY, retryAfter: '5' })
    proxy.pass()
    await waitForService()
    // Send as many requests at once as the pool has connections.
    for (let i = 0; i < 8; i++) {
      const answers = await Promise.all(Array.from({ length: POOL_SIZE }, () => send('/tags')))
      expect(answers.map(({ status }) => status)).toEqual(Array(POOL_SIZE).fill(200))
    }
    // The queue's own connections work again, too: each mail needs one.
    for (let i = 0; i < 8; i++) {
      const recipientEmail = `after-${i}@example.com`
      expect((await sendInvite(recipientEmail)).status).toBe(201)
      const captured = () => db.inviteEmail.count({ where: { state: 'captured', invite: { recipientEmail } } })
      await waitUntil('its mail to be captured', async () => (await captured()) === 1 || undefined)
    }
  })

  it('yields 503 to requests that wait for a locked table, and serves other requests', async () => {
    const unlock = await lockTable('tags')
    const [waiting, other] = await Promise.all([send('/tags'), send('/members')])
    expect(waiting).toMatchObject(BUSY)
    expect(other).toMatchObject({ status: 200 })
    await unlock()
  })
})

it('answers 503 while every connection of the pool is taken, and recovers by itself', async () => {
  const unlock = await lockTable('members')
  const holding = Array.from({ length: 4 * POOL_SIZE }, () => send('/members'))
  await waitUntil('every connection to wait for the lock', async () => {
    const [{ waiting }] = await db.$queryRaw<
      [{ waiting: bigint }]
    >`SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND relation = 'members'::regclass`
    return waiting === BigInt(POOL_SIZE) || undefined
  })
  await send('/tags')
  for (const answer of await Promise.all(holding)) expect(answer).toMatchObject(BUSY)
  await unlock()
  await waitForService()
})

it('answers a retry with the first response if the connection broke after the commit', async () => {
  const toService = await startTcpProxy({ port: Number(new URL(service.url).port) })
  const sendTo = (port: number) =>
    fetch(`http://127.0.0.1:${port}/api/v1/invites`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': 'cut-after-commit' },
      body: JSON.stringify({ assessmentId, recipientEmail: 'cut@example.com' }),
    })
  toService.cutAnswers()
  await expect(sendTo(toService.port)).rejects.toThrow()
  const retried = await sendTo(Number(new URL(service.url).port))
  await toService.cut()
  expect(retried.status).toBe(201)
  expect(retried.headers.get('idempotent-replayed')).toBe('true')
  expect(await db.invite.count({ where: { recipientEmail: 'cut@example.com' } })).toBe(1)
})
