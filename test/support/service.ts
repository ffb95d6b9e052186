import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import request from 'supertest'
import { afterAll, onTestFinished } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import type { Deps } from '../../src/domain/context.ts'
import { MAILBOX_PREFIX, mailboxPath } from '../../src/interfaces/mailbox/access.ts'
import { type Languages, shippedLanguages } from '../../src/locales/languages.ts'
import { buildApp } from '../../src/runtime/app.ts'
import { loadConfig } from '../../src/runtime/config.ts'
import { createDependencies, type Dependencies } from '../../src/runtime/dependencies.ts'
import { PATHS } from '../../src/runtime/paths.ts'
import { copyDatabase } from './copy-database.ts'
import { addCleanup } from './endings.ts'
import { type Factories, factories } from './factories.ts'
import { SECRET_KEY } from './known-secrets.ts'
import { searchLogLine } from './logged-secrets.ts'
import { once } from './once.ts'
import { databaseSettings } from './pgbouncer.ts'

export { SECRET_KEY }

/** A clock that stands still until a test moves it. */
export type TestClock = { now: () => Date; set: (time: Date | string | number) => void; advance: (milliseconds: number) => void }

export type Service = Dependencies & {
  app: FastifyInstance
  db: Db
  deps: Deps
  databaseUrl: string
  clock: TestClock
  /** Starts the sweep. It does not start by default, because starting takes a second, and the sweep changes rows at every full minute. */
  startSweep: () => Promise<void>
  /** Log lines of the service, oldest first. */
  logLines: string[]
  make: Factories
  /** Sends requests to v1 with an API key, such as `v1(key).get('/tags')`. */
  v1: (key: string) => Client
  /** Sends requests to the alternate interface with an API key. */
  alternate: (key: string) => Client
  /** Sends requests to any path, without an API key. */
  http: () => ReturnType<typeof request>
  /** Requests a page of the captured mails, such as `mailbox('/<id>')`, like a browser that has followed the printed link. */
  mailbox: (path?: string) => request.Test
  close: () => Promise<void>
}

/** Password cost, an eightieth of production's, because tests hash hundreds of passwords. */
const CHEAP = { N: 2 ** 10, r: 8, p: 1 }

type Method = 'get' | 'post' | 'patch' | 'put' | 'delete' | 'head' | 'options'
type Client = Record<Method, (path: string) => request.Test>

/**
 * Starts the whole service on a new database, wired as in production, but with a clock that tests move. The caller closes it.
 */
export async function startService(env: Record<string, string> = {}, languages: Languages = shippedLanguages): Promise<Service> {
  const databaseUrl = env.DATABASE_URL ?? (await copyDatabase())
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assessments-media-'))
  const settings = loadConfig({
    DATA_DIR: dataDir,
    ...(await databaseSettings(databaseUrl)),
    SECRET_KEY,
    RATE_LIMIT_STANDARD: '1000000',
    RATE_LIMIT_ENTERPRISE: '1000000',
    RATE_LIMIT_UNKNOWN_KEYS: '1000000',
    RATE_LIMIT_CANDIDATE_LINK: '1000000',
    RATE_LIMIT_CANDIDATE_NETWORK: '1000000',
    MAX_REQUEST_WAIT: '60000', // tests share the process with the service
    STOP_NOTICE: '0',
    ...env,
  })
  const config = { ...settings, mailbox: { allowsPrivatePeers: false } }
  const logLines: string[] = []
  const keepLine = (line: string) => {
    logLines.push(line)
    searchLogLine(line)
  }
  const log = pino({ level: 'info' }, { write: keepLine })
  const clock = createTestClock()
  // A copy of the template has all migrations and queues, but not the settings of the role that a pooler needs.
  const migrates = env.DATABASE_URL !== undefined || process.env.TEST_POOLER !== undefined
  const options = { migrates, clock: clock.now, languages, passwordCost: CHEAP }
  const dependencies = await createDependencies(config, log, options)
  const { system } = dependencies
  const app = await buildApp(config, dependencies)
  await app.ready()
  await dependencies.startWork()
  const http = () => request(app.server)
  const mailboxCookie = mailboxPath(dependencies.site.secretKeys).replace(/^.*token=/, 'mailbox=')
  const service: Service = {
    ...dependencies,
    startSweep: once(dependencies.startSweep),
    app,
    db: system.db as Db, // outside a transaction, this is the pool
    deps: system.deps,
    databaseUrl,
    clock,
    logLines,
    make: factories(system),
    v1: (key) => clientFor(app, PATHS.v1, 'x-api-key', key),
    alternate: (key) => clientFor(app, config.alternate.prefix, 'x-service-docs-api-key', key),
    http,
    mailbox: (path = '') =>
      http()
        .get(MAILBOX_PREFIX + path)
        .set('cookie', mailboxCookie),
    async close() {
      await app.close()
      await dependencies.dispose()
      dependencies.metrics.registry.clear() // collectors that observe the process never stop, and would keep the whole service in memory
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  // A worker keeps the modules of all its test files, and the objects that they refer to. Empty the service object: otherwise each service keeps
  // 22 MB, which every garbage collection traverses.
  addCleanup(async () => {
    for (const name of Object.keys(service)) Reflect.deleteProperty(service, name)
  })
  return service
}

/** Starts a service for all tests of a file: `const service = await startServiceForFile()` at its top. */
export async function startServiceForFile(env: Record<string, string> = {}): Promise<Service> {
  const service = await startService(env)
  afterAll(() => service.close())
  return service
}

/** Starts a service for one test. */
export async function startServiceForTest(env: Record<string, string> = {}, languages?: Languages): Promise<Service> {
  const service = await startService(env, languages)
  onTestFinished(() => service.close())
  return service
}

export function clientFor(app: FastifyInstance, prefix: string, header: string, key: string): Client {
  const send = (method: Method) => (path: string) => request(app.server)[method](`${prefix}${path}`).set(header, key)
  return {
    get: send('get'),
    post: send('post'),
    patch: send('patch'),
    put: send('put'),
    delete: send('delete'),
    head: send('head'),
    options: send('options'),
  }
}

/** Creates a clock that starts at the real time, so that it agrees with timestamps of PostgreSQL and pg-boss. */
function createTestClock(): TestClock {
  let time = Date.now()
  return {
    now: () => new Date(time),
    set: (to) => {
      time = new Date(to).getTime()
    },
    advance: (milliseconds) => {
      time += milliseconds
    },
  }
}
