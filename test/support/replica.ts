import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { findIdentity } from '../../src/db/embedded-files.ts'

/** A PostgreSQL server with one or more streaming replicas. Functions act on the first replica by default. */
export type Replicated = {
  url: string
  readUrl: string
  readUrls: string[]
  /** Runs one statement on the primary. */
  onPrimary: (sql: string) => Promise<Row[]>
  /** Runs one statement on a replica. */
  onReplica: (sql: string, which?: number) => Promise<Row[]>
  /** Makes a replica follow another server, or none. */
  follow: (url: string | undefined, which?: number) => Promise<void>
  /** Stops the first replica at once, as if its machine failed. */
  stopReplica: () => Promise<void>
  dispose: () => Promise<void>
}
// biome-ignore lint/suspicious/noExplicitAny: a row of any query
type Row = any

/** Starts the servers, each on a Unix socket. The primary has an empty database with the service's name. */
export async function startReplicated({ replicas: count = 1 } = {}): Promise<Replicated> {
  const home = await mkdtemp(path.join(tmpdir(), 'assessments-replica-'))
  await chmod(home, 0o755) // under root, another user runs the servers
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(home, { recursive: true, force: true }))
  const primary = await startEmbeddedDatabase({ dataDir: path.join(home, 'primary'), durable: false })
  opened.defer(primary.release)
  const replicas: EmbeddedDatabase[] = []
  for (let which = 0; which < count; which++) {
    const replica = await startReplica(primary, path.join(home, `replica-${which}`))
    opened.defer(replica.release)
    replicas.push(replica)
  }
  const kept = opened.move()
  const readUrls = replicas.map(({ url }) => url)
  const onReplica = (sql: string, which = 0) => query(readUrls[which]!, sql)
  return {
    url: primary.url,
    readUrl: readUrls[0]!,
    readUrls,
    onPrimary: (sql) => query(primary.url, sql),
    onReplica,
    async follow(url, which) {
      await onReplica(`ALTER SYSTEM SET primary_conninfo = '${url === undefined ? '' : addressOf(url)}'`, which)
      await onReplica('SELECT pg_reload_conf()', which)
    },
    stopReplica: async () => void process.kill(await serverPid(replicas[0]!), 'SIGQUIT'),
    dispose: () => kept.disposeAsync(),
  }
}

/** Copies a running server, and starts the copy as its replica. @param dataDir folder that the server's user can access. */
async function startReplica(primary: Pick<EmbeddedDatabase, 'url' | 'folder'>, dataDir: string): Promise<EmbeddedDatabase> {
  await copyAsReplica(primary, path.join(dataDir, 'postgres'))
  return startEmbeddedDatabase({ dataDir, durable: false })
}

/** Returns the process id of the postmaster, the parent of the server's backends. */
export const serverPid = async ({ folder }: Pick<EmbeddedDatabase, 'folder'>): Promise<number> =>
  Number((await readFile(path.join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0])

/** Files of a running server that must not be copied. */
const LEFT_OUT = /postmaster\.pid$|\.s\.PGSQL/

/** Copies a server like pg_basebackup, which the PostgreSQL from npm lacks. */
async function copyAsReplica({ url, folder }: Pick<EmbeddedDatabase, 'url' | 'folder'>, to: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('replica', true)`)
    await cp(folder, to, { recursive: true, filter: (from) => !LEFT_OUT.test(from) })
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    await writeFile(path.join(to, 'backup_label'), rows[0].labelfile)
    await writeFile(path.join(to, 'postgresql.auto.conf'), `primary_conninfo = '${addressOf(url)}'\n`)
    await writeFile(path.join(to, 'standby.signal'), '')
  } finally {
    await client.end()
  }
  await own(to)
}

const addressOf = (url: string) => `host=${new URL(url).searchParams.get('host')} user=postgres`

/** Gives the files to PostgreSQL's user, because it rejects files of other users. */
async function own(folder: string): Promise<void> {
  const identity = findIdentity()
  if (!identity) return
  const files = await readdir(folder, { recursive: true })
  for (const file of ['', ...files]) await chown(path.join(folder, file), identity.uid, identity.gid)
}

async function query(connectionString: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString })
  await client.connect()
  const { rows } = await client.query(sql).finally(() => client.end())
  return rows
}
