import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDb, type Db, openPool } from '../../src/db/client.ts'
import { migrate } from '../../src/db/migrate.ts'
import { factories, systemOn } from '../support/factories.ts'
import { startPostgres } from '../support/postgres.ts'
import { ask, type ServiceProcess, startProcess, waitUntil } from '../support/processes.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { scaled } from './scale.ts'

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
  })
})
beforeEach(() => serves())
afterAll(async () => {
  service.kill('SIGTERM')
  await service.exited
  await proxy.close()
  await db.$disconnect()
  await postgres.close()
})

type Timed = { status: number; body: unknown; ms: number }

async function timed(resource: string, body?: unknown): Promise<Timed> {
  const start = performance.now()
  const response = await ask(service, key, resource, body)
  return { status: response.status, body: await response.json(), ms: performance.now() - start }
}

/** @returns how long it took until a request was answered properly again, in milliseconds. */
async function serves(): Promise<number> {
  const start = performance.now()
  await waitUntil('the service to serve', async () => ((await timed('/tags')).status === 200 ? true : undefined), 30_000)
  return performance.now() - start
}

/** Sends an invite every `everyMs` until `stop` is called. */
function keepInviting(everyMs: number) {
  const answers: Promise<Timed & { email: string }>[] = []
  const timer = setInterval(() => {
    const email = `${crypto.randomUUID()}@example.com`
    answers.push(timed('/invites', { assessmentId, recipientEmail: email }).then((answer) => ({ ...answer, email })))
  }, everyMs)
  return async () => {
    clearInterval(timer)
    return Promise.all(answers)
  }
}

const passing = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

async function expectAllKept(answers: (Timed & { email: string })[]): Promise<void> {
  const acknowledged = answers.filter(({ status }) => status === 201).map(({ email }) => email)
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(await db.invite.count({ where: { recipientEmail: { in: acknowledged } } })).toBe(acknowledged.length)
}

describe('a database that goes away', () => {
  it('answers 500 in the envelope within 3 s while it is stopped, and serves within 5 s of its return with every acknowledged write', async () => {
    const stop = keepInviting(20)
    await passing(500)
    await postgres.stopAtOnce()
    await passing(scaled(3_000, 10_000))
    await postgres.start()
    const recovery = await serves()
    const answers = await stop()
    expect(recovery).toBeLessThan(5_000)
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(3_000)
    const failed = answers.filter(({ status }) => status !== 201)
    expect(failed.length).toBeGreaterThan(0)
    for (const { status, body } of failed) expect([status, body]).toEqual([500, { error: 'Internal server error' }])
    await expectAllKept(answers)
  })

  it('survives all its backends being terminated again and again, with few errors', async () => {
    const stop = keepInviting(20)
    for (let i = 0; i < scaled(4, 30); i++) {
      await passing(1_000)
      await db.$queryRaw`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`
    }
    const answers = await stop()
    await serves()
    expect(answers.filter(({ status }) => status !== 201).length).toBeLessThan(answers.length / 4)
    await expectAllKept(answers)
  })
})

describe('a database that does not answer', () => {
  it('costs one slow request a connection and leaves no poisoned pool', async () => {
    proxy.swallow()
    const slow = await Promise.all([timed('/tags'), timed('/invites', { assessmentId, recipientEmail: 'swallowed@example.com' })])
    expect(slow.map(({ status }) => status)).toEqual([500, 500])
    expect(Math.max(...slow.map(({ ms }) => ms))).toBeLessThan(12_000)
    proxy.pass()
    expect(await serves()).toBeLessThan(10_000)
    const after = await Promise.all(Array.from({ length: 40 }, () => timed('/tags')))
    expect(after.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(Math.max(...after.map(({ ms }) => ms))).toBeLessThan(3_000)
  })

  it('answers 503 to what waits for a locked table within 5 s, and serves the rest', async () => {
    let unlock = () => {}
    const locked = db.$transaction(
      async (tx) => {
        await tx.$executeRaw`LOCK TABLE tags IN ACCESS EXCLUSIVE MODE`
        await new Promise<void>((resolve) => {
          unlock = resolve
        })
      },
      { timeout: 30_000 },
    )
    await waitUntil('the lock', async () => {
      const [{ held }] = await db.$queryRaw<
        [{ held: bigint }]
      >`SELECT count(*) AS held FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = 'tags'::regclass`
      return held > 0n || undefined
    })
    const [waiting, other] = await Promise.all([timed('/tags'), timed('/members')])
    unlock()
    await locked
    expect(waiting).toMatchObject({ status: 503, body: { error: 'The service is busy. Please try again later.' } })
    expect(waiting.ms).toBeLessThan(5_000)
    expect(other).toMatchObject({ status: 200 })
    expect(other.ms).toBeLessThan(1_000)
  })
})

it('answers within 3 s when every connection of the pool is taken, and recovers by itself', async () => {
  let unlock = () => {}
  const locked = db.$transaction(
    async (tx) => {
      await tx.$executeRaw`LOCK TABLE members IN ACCESS EXCLUSIVE MODE`
      await new Promise<void>((resolve) => {
        unlock = resolve
      })
    },
    { timeout: 30_000 },
  )
  await passing(100)
  const holding = Array.from({ length: 20 }, () => timed('/members'))
  await passing(200)
  const waiting = await timed('/tags')
  unlock()
  await Promise.all([locked, ...holding])
  expect(waiting.ms).toBeLessThan(3_000)
  expect(await serves()).toBeLessThan(1_000)
})

it('answers a retry with the first answer when the connection broke after the commit', async () => {
  const toService = await startTcpProxy({ port: Number(new URL(service.url).port) })
  const send = (port: number) =>
    fetch(`http://127.0.0.1:${port}/api/v1/invites`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': 'cut-after-commit' },
      body: JSON.stringify({ assessmentId, recipientEmail: 'cut@example.com' }),
    })
  toService.cutAnswers()
  await expect(send(toService.port)).rejects.toThrow()
  const retried = await send(Number(new URL(service.url).port))
  await toService.close()
  expect(retried.status).toBe(201)
  expect(retried.headers.get('idempotent-replayed')).toBe('true')
  expect(await db.invite.count({ where: { recipientEmail: 'cut@example.com' } })).toBe(1)
})
