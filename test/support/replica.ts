import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { findIdentity } from '../../src/db/embedded-files.ts'

/** A PostgreSQL server of its own, with a streaming replica, or several: what is done is done to the first unless another is named. */
export type Replicated = {
  url: string
  readUrl: string
  readUrls: string[]
  /** One statement, on the primary. */
  onPrimary: (sql: string) => Promise<Row[]>
  /** One statement, on the replica. */
  onReplica: (sql: string, which?: number) => Promise<Row[]>
  /** Makes the replica follow another server, or none. */
  follow: (url: string | undefined, which?: number) => Promise<void>
  /** As when its machine is lost. */
  stopReplica: () => Promise<void>
  dispose: () => Promise<void>
}
// biome-ignore lint/suspicious/noExplicitAny: whatever was asked for
type Row = any

/** Starts all, on a unix socket each. The primary has an empty database of the service's name. */
export async function startReplicated({ replicas: count = 1 } = {}): Promise<Replicated> {
  const home = await mkdtemp(path.join(tmpdir(), 'assessments-replica-'))
  await chmod(home, 0o755) // under root the servers are another user's
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

/** Copies a running server, and starts the copy as its replica. `dataDir` is one that the server's user can reach. */
async function startReplica(primary: Pick<EmbeddedDatabase, 'url' | 'folder'>, dataDir: string): Promise<EmbeddedDatabase> {
  await copyAsReplica(primary, path.join(dataDir, 'postgres'))
  return startEmbeddedDatabase({ dataDir, durable: false })
}

/** The process whose children are the server's connections. */
export const serverPid = async ({ folder }: Pick<EmbeddedDatabase, 'folder'>): Promise<number> =>
  Number((await readFile(path.join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0])

/** Log line that shows that the server runs. */
const LEFT_OUT = /postmaster\.pid$|\.s\.PGSQL/

/** Does what pg_basebackup would, which the PostgreSQL from npm lacks. */
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

/** PostgreSQL refuses files that are not its user's. */
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
