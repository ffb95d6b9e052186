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
  /** Parent folder: DATA_DIR, or another one if an unprivileged user can't reach that. */
  home: string
  /** The server's files, below `home`. */
  folder: string
  /** True if the server ran already and nobody used it, as after its service was killed. */
  wasAbandoned: boolean
  /** Stops the server unless another process still uses it; connections of this process that are still open are cut off. */
  release: () => Promise<void>
}

type Options = {
  dataDir: string
  /** false trades crash safety for speed: for tests. */
  durable?: boolean
  /** Once aborted, no server is started any more. */
  signal?: AbortSignal | undefined
  /** True if the server may have much to replay: it then has no time limit to start, unless its process ends. */
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
/** Advisory lock of the database `postgres` that every process shares while it uses the server. */
const USE_LOCK = 7_301_947

/** Release functions of the servers that this process uses. */
const inUse = new Set<EmbeddedDatabase['release']>()

/** For a process that has no time left to close its connections: stops the servers that no other process uses. */
export const releaseEmbeddedDatabases = async (): Promise<void> =>
  void (await Promise.all([...inUse].map((release) => release())))

/**
 * Starts the embedded PostgreSQL under `dataDir`, or joins the running one: another process's, or one that outlived a killed process. The
 * last user stops it.
 *
 * @throws Error if the platform has no embedded PostgreSQL, the database files are not accessible to the user PostgreSQL has to run as, or
 *   the server does not start within 30 s (with its log).
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

  const use = await bringUp(server, signal)
  let released: Promise<void> | undefined
  const releaseOnce = () => {
    inUse.delete(releaseOnce)
    released ??= release(server, use)
    return released
  }
  inUse.add(releaseOnce)
  const wasAbandoned = await prepare(use).catch(async (error) => {
    await releaseOnce()
    throw error
  })
  return { url: connectionString(server, DATABASE), home, folder, wasAbandoned, release: releaseOnce }
}

/**
 * Tries until a connection is made: the server may be ours to start, already there, starting, or just being stopped by another process.
 *
 * @returns the connection that shares {@link USE_LOCK}.
 */
async function bringUp(server: Server, signal: AbortSignal | undefined): Promise<Client> {
  const deadline = Date.now() + START_TIMEOUT_MS
  let child: ReturnType<typeof spawn> | undefined
  let use = await enter(server)
  while (!use) {
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
    use = await enter(server)
  }
  child?.unref()
  return use
}

async function failToStart(server: Server): Promise<never> {
  const failure = server.recovers ? 'ended before it had recovered' : 'did not start within 30 s'
  throw new Error(`The embedded PostgreSQL ${failure}. Its log:\n${await readLog(server)}`)
}

/** Refuses to start while a restore is in progress, because a new database would take its place. */
async function refuseRestoring({ folder }: Server): Promise<void> {
  const draft = restoringFolder(path.dirname(folder))
  if (!existsSync(draft)) return
  throw new Error(`There is ${draft}: a backup is being restored, or that was interrupted. If none is at work, remove it.`)
}

async function initialize({ folder, initdb, identity }: Server): Promise<void> {
  // Created next to its place and moved when complete, so that an interrupted or simultaneous start leaves no half of it.
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

/** @returns undefined where the server can't be reached, or is being stopped by the process that used it last. */
async function enter(server: Server): Promise<Client | undefined> {
  const client = new Client({ connectionString: connectionString(server, 'postgres'), connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // a server that stops meanwhile; the query in flight rejects
  try {
    await client.connect()
    await client.query('SELECT pg_advisory_lock_shared($1)', [USE_LOCK])
    return client
  } catch {
    await client.end().catch(() => {}) // it may not have connected
    return undefined
  }
}

/** @returns whether the server was abandoned. */
async function prepare(use: Client): Promise<boolean> {
  const wasAbandoned = await isAbandoned(use)
  await createDatabase(use)
  return wasAbandoned
}

async function createDatabase(use: Client): Promise<void> {
  const { rowCount } = await use.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
  if (rowCount) return
  await use.query(`CREATE DATABASE ${DATABASE}`).catch((error) => {
    const madeMeanwhile = error.code === '42P04' || error.code === '23505'
    if (!madeMeanwhile) throw error
  })
}

async function release(server: Server, use: Client): Promise<void> {
  if (await isUsedByOthers(use)) return use.end()
  const pid = Number((await readFile(path.join(server.folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0])
  if (!pid) return
  const deadline = Date.now() + STOP_TIMEOUT_MS
  // SIGINT is PostgreSQL's fast shutdown. A signal to an ended process throws, which ends the wait.
  for (let signal: 'SIGINT' | 0 = 'SIGINT'; Date.now() < deadline; signal = 0) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    await sleep(20)
  }
}

/** False for a server that was started after this process: another one starts at the same time, and shares the lock in a moment. */
async function isAbandoned(use: Client): Promise<boolean> {
  const { rows } = await use.query(
    `SELECT pg_postmaster_start_time() < $1 AND NOT EXISTS (
       SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $2 AND pid <> pg_backend_pid()
     ) AS abandoned`,
    [new Date(performance.timeOrigin), USE_LOCK],
  )
  return rows[0].abandoned
}

/** Gives up the shared lock; if no other process shares it, nobody can until the server has stopped. An unreachable server is of no use to others. */
async function isUsedByOthers(use: Client): Promise<boolean> {
  try {
    await use.query('SELECT pg_advisory_unlock_shared($1)', [USE_LOCK])
    const { rows } = await use.query('SELECT pg_try_advisory_lock($1) AS alone', [USE_LOCK])
    return !rows[0].alone
  } catch {
    return false
  }
}

const connectionString = ({ sockets }: Server, database: string) =>
  `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(sockets)}`

const logFile = (folder: string) => path.join(folder, 'server.log')

const readLog = async ({ folder }: Server) => (await readFile(logFile(folder), 'utf8').catch(() => '(none)')).slice(-2_000)
