import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import {
  chooseHome,
  chooseSocketFolder,
  databaseFolder,
  findBinaries,
  findIdentity,
  type Identity,
  restoringFolder,
  run,
} from './embedded-files.ts'

/** A PostgreSQL server of this machine's own, reached through a unix socket only. */
export type EmbeddedDatabase = {
  /** Connection string of the service's database. */
  url: string
  /** What belongs to the database lies here: DATA_DIR, or a folder of its own where an unprivileged user has to reach it and can't. */
  home: string
  /** Where the server keeps its files, below `home`. */
  folder: string
  /** True if the server ran already and nobody used it, as after its service was killed. */
  wasAbandoned: boolean
  /** Stops the server unless another process still uses it. Call it when this process's own connections are closed. */
  release: () => Promise<void>
}

type Options = {
  dataDir: string
  /** false trades crash safety for speed: for tests. */
  durable?: boolean
  /** Once aborted, no server is started any more. */
  signal?: AbortSignal | undefined
  /** Whether it has much to replay first: then it may take as long as it does, unless its process ends. */
  recovers?: boolean
}

type Server = {
  postgres: string
  initdb: string
  folder: string
  sockets: string
  identity: Identity
  durable: boolean
  recovers: boolean
}

const DATABASE = 'assessments'
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000
/** A connection that was closed is counted until its backend has ended. */
const LINGER_MS = 300

/**
 * Starts the embedded PostgreSQL under `dataDir`, or joins the one that already runs there: another process's, or one that
 * outlived a killed process. Whoever leaves last stops it.
 *
 * @throws Error when the platform has no embedded PostgreSQL, when the database that is there can't be reached by the user PostgreSQL
 *   has to run as, or when the server does not come up within 30 s (with its log).
 */
export async function startEmbeddedDatabase({
  dataDir,
  durable = true,
  signal,
  recovers = false,
}: Options): Promise<EmbeddedDatabase> {
  const identity = findIdentity()
  const binaries = await findBinaries(identity)
  const home = await chooseHome(dataDir, identity)
  const folder = databaseFolder(home)
  const sockets = await chooseSocketFolder(folder, identity)
  const server: Server = { ...binaries, folder, sockets, identity, durable, recovers }

  const wasAbandoned = await isAbandoned(server)
  await bringUp(server, signal)
  await createDatabase(server).catch(async (error) => {
    await release(server)
    throw error
  })
  return { url: connectionString(server, DATABASE), home, folder, wasAbandoned, release: () => release(server) }
}

/** Tries until a connection is made: the server may be ours to start, already there, starting, or just being stopped by another process. */
async function bringUp(server: Server, signal: AbortSignal | undefined): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  let child: ReturnType<typeof spawn> | undefined
  while (!(await accepts(server))) {
    const hasEnded = child !== undefined && (child.exitCode !== null || child.signalCode !== null)
    if (server.recovers ? hasEnded : Date.now() > deadline) await failToStart(server)
    if (!child || hasEnded) {
      if (!existsSync(path.join(server.folder, 'PG_VERSION'))) {
        await refuseRestoring(server)
        await initialize(server)
      }
      signal?.throwIfAborted()
      child = await launch(server)
    }
    await sleep(20)
  }
  child?.unref()
}

async function failToStart(server: Server): Promise<never> {
  const what = server.recovers ? 'ended before it had recovered' : 'did not start within 30 s'
  throw new Error(`The embedded PostgreSQL ${what}. Its log:\n${await readLog(server)}`)
}

/** A new database would take the place of the one that is being restored. */
async function refuseRestoring({ folder }: Server): Promise<void> {
  const draft = restoringFolder(path.dirname(folder))
  if (!existsSync(draft)) return
  throw new Error(`There is ${draft}: a backup is being restored, or that was interrupted. If none is at work, remove it.`)
}

async function initialize({ folder, initdb, identity }: Server): Promise<void> {
  // Made beside its place and moved there when complete, so that an interrupted or simultaneous start leaves no half of it.
  const draft = `${folder}.${process.pid}`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  if (identity) await chown(draft, identity.uid, identity.gid)
  const settings = [
    '--auth=trust',
    '--username=postgres',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  const options = { ...identity, cwd: draft, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }
  const { status, errors } = await run(initdb, ['-D', draft, '--no-locale', '--no-instructions', ...settings], options)
  if (status !== 0) throw new Error(`The embedded PostgreSQL could not be initialized: ${errors}`)
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }))
}

async function launch({ postgres, folder, sockets, identity, durable }: Server) {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    max_connections: '200',
  }
  const fast = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  const flags = Object.entries(durable ? settings : { ...settings, ...fast }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const log = await open(logFile(folder), 'a')
  // In a process group of its own, or Ctrl-C in the terminal would stop the database before the service has finished with it.
  const child = spawn(postgres, ['-D', folder, ...flags], {
    ...identity,
    cwd: folder,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  child.on('error', () => {}) // its exit is seen by bringUp
  await log.close()
  return child
}

async function accepts(server: Server): Promise<boolean> {
  return withClient(server, 'postgres', async () => true).catch(() => false)
}

async function createDatabase(server: Server): Promise<void> {
  await withClient(server, 'postgres', async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount) return
    await client.query(`CREATE DATABASE ${DATABASE}`).catch((error) => {
      const madeMeanwhile = error.code === '42P04' || error.code === '23505'
      if (!madeMeanwhile) throw error
    })
  })
}

async function release(server: Server): Promise<void> {
  if (await isUsed(server)) return
  const pid = Number((await readFile(path.join(server.folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0])
  if (!pid) return
  const deadline = Date.now() + STOP_TIMEOUT_MS
  // SIGINT is PostgreSQL's fast shutdown. A signal to a process that is gone throws, which is what we wait for.
  for (let signal: 'SIGINT' | 0 = 'SIGINT'; Date.now() < deadline; signal = 0) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    await sleep(20)
  }
}

/** Whether anybody else is connected. A server that can't be asked is of no use to others either. */
async function isUsed(server: Server): Promise<boolean> {
  const askUntilAlone = async (client: Client): Promise<boolean> => {
    const deadline = Date.now() + LINGER_MS
    while ((await countOthers(client)) > 0) {
      if (Date.now() > deadline) return true
      await sleep(20)
    }
    return false
  }
  return withClient(server, 'postgres', askUntilAlone).catch(() => false)
}

async function countOthers(client: Client): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*)::int AS others FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  )
  return rows[0].others
}

/** False for a server that was started after this process: another one starts at the same time, and connects in a moment. */
async function isAbandoned(server: Server): Promise<boolean> {
  const isOld = async (client: Client) => {
    const { rows } = await client.query('SELECT pg_postmaster_start_time() < $1 AS old', [new Date(performance.timeOrigin)])
    return rows[0].old && (await countOthers(client)) === 0
  }
  return withClient(server, 'postgres', isOld).catch(() => false)
}

async function withClient<T>(server: Server, database: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: connectionString(server, database), connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // a server that stops meanwhile; the query in flight rejects
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

const connectionString = ({ sockets }: Server, database: string) =>
  `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(sockets)}`

const logFile = (folder: string) => path.join(folder, 'server.log')

const readLog = async ({ folder }: Server) => (await readFile(logFile(folder), 'utf8').catch(() => '(none)')).slice(-2_000)
