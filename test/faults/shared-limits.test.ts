import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { changeApiKey, createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { findFreePort } from '../support/free-port.ts'
import { ask, openTestDatabase, type ServiceProcess, startProcess, type TestDatabase } from '../support/processes.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait-until.ts'

const LIMIT = 100
/** Time limit of a request to Redis. */
const REDIS_WAIT_MS = 100
const AWAY = 'Redis is unreachable: this process counts its own requests only'
const BACK = 'Redis is reachable again: requests are counted across all processes'
const hasRedis = spawnSync('redis-server', ['--version']).status === 0
const orSkipped = hasRedis ? '' : ' (skipped: there is no redis-server on this machine)'

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.db.$disconnect())

/** Starts a Redis that writes nothing to disk. */
async function startRedis(port: number) {
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'])
  const exited = once(child, 'close')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  const answers = () =>
    new Promise<true | undefined>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => resolve(undefined))
      socket.on('connect', () => {
        socket.destroy()
        resolve(true)
      })
    })
  await waitUntil('Redis', answers)
  const signal = (name: NodeJS.Signals) => child.kill(name)
  return { url: `redis://127.0.0.1:${port}`, kill, signal }
}

/** Ways to make Redis hang: its process or the connection to it accepts data, but sends nothing back. */
const hangingRedis = {
  'its process is stopped': async () => {
    const redis = await startRedis(await findFreePort())
    return { url: redis.url, hang: () => redis.signal('SIGSTOP'), recover: () => redis.signal('SIGCONT') }
  },
  'its connection drops all data': async () => {
    const port = await findFreePort()
    await startRedis(port)
    const line = await startTcpProxy({ port })
    onTestFinished(line.cut)
    return { url: `redis://127.0.0.1:${line.port}`, hang: line.swallow, recover: line.pass }
  },
}

const startReplicas = (redisUrl: string): Promise<ServiceProcess[]> => {
  const env = { DATABASE_URL: database.url, REDIS_URL: redisUrl, ROLE: 'api', RATE_LIMIT_STANDARD: String(LIMIT) }
  return Promise.all([startProcess(env), startProcess(env)])
}

/** Number of clients that the replicas can serve without long waits for a database connection. */
const CLIENTS = 16

/** Sends this many requests from several clients to the replicas in turn. @returns the number of responses by status. */
async function askAtOnce(
  replicas: ServiceProcess[],
  key: string,
  count: number,
  clients = CLIENTS,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  let sent = 0
  const askOneByOne = async () => {
    while (sent < count) {
      const answer = await ask(replicas[sent++ % replicas.length]!, key, '/tags')
      await answer.arrayBuffer()
      counts[answer.status] = (counts[answer.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: clients }, askOneByOne))
  return counts
}

const readRedisLog = (replica: ServiceProcess) => replica.log().flatMap(({ msg }) => (msg === AWAY || msg === BACK ? [msg] : []))

/**
 * Runs the work while Redis answers every request in time. On a busy machine, Redis may take longer than a replica waits. The replica then
 * counts its own requests and logs it, and the work is repeated.
 */
const whileRedisAnswers = <T extends object>(replicas: ServiceProcess[], work: () => Promise<T>): Promise<T> =>
  waitUntil('Redis to answer every request in time', async () => {
    const before = replicas.map(readRedisLog)
    if (before.some((said) => said.at(-1) === AWAY)) return undefined
    const outcome = await work()
    const isUndisturbed = replicas.every((replica, i) => readRedisLog(replica).length === before[i]!.length)
    return isUndisturbed ? outcome : undefined
  })

/** Calls {@link askAtOnce} with a new key while Redis answers. */
const askWhileRedisAnswers = (replicas: ServiceProcess[], count: number, clients?: number) =>
  whileRedisAnswers(replicas, async () => {
    const { key } = await database.make.organization()
    return askAtOnce(replicas, key, count, clients)
  })

it.skipIf(!hasRedis)(
  `applies a key's own limit across both processes, and leaves the rest to its organization's other keys${orSkipped}`,
  async () => {
    const redis = await startRedis(await findFreePort())
    const replicas = await startReplicas(redis.url)
    const outcome = await whileRedisAnswers(replicas, async () => {
      const { id: organizationId, key: other } = await database.make.organization()
      const { key: sync, apiKey } = await createApiKey(database.system, { organizationId, name: 'Sync', mode: 'live' })
      const { key: trials } = await createApiKey(database.system, { organizationId, name: 'Trials', mode: 'test' })
      await changeApiKey(database.system, apiKey.id, { requestsPerMinute: 30 })
      return [
        await askAtOnce(replicas, sync, 600),
        await askAtOnce(replicas, other, LIMIT),
        await askAtOnce(replicas, trials, LIMIT + 5),
      ]
    })
    expect(outcome).toEqual([
      { 200: 30, 429: 570 },
      { 200: LIMIT - 30, 429: 30 },
      { 200: LIMIT, 429: 5 },
    ])
  },
)

it.skipIf(!hasRedis)(
  `allows exactly ${LIMIT} of 1,000 concurrent requests to two replicas that share one Redis${orSkipped}`,
  async () => {
    const redis = await startRedis(await findFreePort())
    const replicas = await startReplicas(redis.url)
    expect(await askWhileRedisAnswers(replicas, 1_000)).toEqual({ 200: LIMIT, 429: 1_000 - LIMIT })
  },
)

it.skipIf(!hasRedis)(`counts per replica when Redis is killed, and together again once it is back${orSkipped}`, async () => {
  const port = await findFreePort()
  const redis = await startRedis(port)
  const replicas = await startReplicas(redis.url)
  const [before, during] = [await database.make.organization(), await database.make.organization()]
  expect(await askAtOnce(replicas, before.key, 20)).toEqual({ 200: 20 })
  const underWay = askAtOnce(replicas, before.key, 60)
  await redis.kill()
  expect(await underWay).toEqual({ 200: 60 })
  expect(await askAtOnce(replicas, during.key, 3 * LIMIT)).toEqual({ 200: 2 * LIMIT, 429: LIMIT })

  await startRedis(port)
  await Promise.all(replicas.map((replica) => replica.waitForLog(BACK)))
  expect(readRedisLog(replicas[0]!)).toEqual([AWAY, BACK])
  expect(await askWhileRedisAnswers(replicas, 3 * LIMIT)).toEqual({ 200: LIMIT, 429: 2 * LIMIT })
})

it.skipIf(!hasRedis).each(Object.entries(hangingRedis))(
  `serves at full speed while Redis hangs (%s), and logs once that it is unreachable and once that it is back${orSkipped}`,
  async (_how, startHangingRedis) => {
    const redis = await startHangingRedis()
    const [replica, other] = await startReplicas(redis.url)
    const [before, during] = [await database.make.organization(), await database.make.organization()]
    expect(await askAtOnce([replica!], before.key, 20)).toEqual({ 200: 20 })

    redis.hang()
    expect(await askAtOnce([replica!], during.key, 20)).toEqual({ 200: 20 })
    const times: number[] = []
    for (let i = 20; i < LIMIT; i++) {
      const begin = performance.now()
      expect(await askAtOnce([replica!], during.key, 1)).toEqual({ 200: 1 })
      times.push(performance.now() - begin)
    }
    expect(await askAtOnce([replica!], during.key, 1)).toEqual({ 429: 1 })
    // A request that waited for Redis would take longer. On a busy machine, some requests do.
    expect(times.filter((ms) => ms < REDIS_WAIT_MS).length).toBeGreaterThan(times.length / 4)
    await replica!.waitForLog(AWAY)
    await askAtOnce([other!], during.key, 1)

    redis.recover()
    for (const each of [replica!, other!]) await each.waitForLog(BACK)
    expect(readRedisLog(replica!)).toEqual([AWAY, BACK])
    // One request at a time: this process runs the proxy, and a burst would delay the proxy's data.
    expect(await askWhileRedisAnswers([replica!, other!], LIMIT + 2, 1)).toEqual({ 200: LIMIT, 429: 2 })
  },
)

it.skipIf(!hasRedis)(
  `counts per replica while Redis is read-only, and together again once it is writable${orSkipped}`,
  async () => {
    const redis = await startRedis(await findFreePort())
    const replicas = await startReplicas(redis.url)
    const operator = new Redis(redis.url)
    onTestFinished(() => operator.disconnect())
    await operator.replicaof('127.0.0.1', await findFreePort())
    const { key } = await database.make.organization()
    expect(await askAtOnce(replicas, key, 3 * LIMIT)).toEqual({ 200: 2 * LIMIT, 429: LIMIT })
    await Promise.all(replicas.map((replica) => replica.waitForLog(AWAY)))

    await operator.replicaof('NO', 'ONE')
    await Promise.all(replicas.map((replica) => replica.waitForLog(BACK)))
    expect(await askWhileRedisAnswers(replicas, 3 * LIMIT)).toEqual({ 200: LIMIT, 429: 2 * LIMIT })
  },
)

it('starts and serves without the configured Redis', async () => {
  const replicas = await startReplicas(`redis://127.0.0.1:${await findFreePort()}`)
  const { key } = await database.make.organization()
  expect(await askAtOnce(replicas, key, 10)).toEqual({ 200: 10 })
})
