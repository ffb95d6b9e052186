import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { type EmbeddedDatabase, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { findIdentity } from '../../src/db/embedded-files.ts'

/** A PostgreSQL server of its own, with a streaming replica. */
export type Replicated = {
  url: string
  readUrl: string
  /** One statement, on the replica. */
  onReplica: (sql: string) => Promise<void>
  /** As when its machine is lost. */
  stopReplica: () => Promise<void>
  dispose: () => Promise<void>
}

/** Starts both, on a unix socket each. The primary has an empty database of the service's name. */
export async function startReplicated(): Promise<Replicated> {
  const home = await mkdtemp(path.join(tmpdir(), 'assessments-replica-'))
  await chmod(home, 0o755) // under root the servers are another user's
  const [primaryDir, replicaDir] = [path.join(home, 'primary'), path.join(home, 'replica')]
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(home, { recursive: true, force: true }))
  const primary = await startEmbeddedDatabase({ dataDir: primaryDir, durable: false })
  opened.defer(primary.release)
  const replica = await startReplica(primary, replicaDir)
  opened.defer(replica.release)
  const kept = opened.move()
  return {
    url: primary.url,
    readUrl: replica.url,
    onReplica: (sql) => query(replica.url, sql),
    stopReplica: async () => void process.kill(await serverPid(replica), 'SIGQUIT'),
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

/** What says that the server runs. */
const LEFT_OUT = /postmaster\.pid$|\.s\.PGSQL/

/** What pg_basebackup does, which npm's PostgreSQL comes without. */
async function copyAsReplica({ url, folder }: Pick<EmbeddedDatabase, 'url' | 'folder'>, to: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('replica', true)`)
    await cp(folder, to, { recursive: true, filter: (from) => !LEFT_OUT.test(from) })
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    const host = new URL(url).searchParams.get('host')
    await writeFile(path.join(to, 'backup_label'), rows[0].labelfile)
    await writeFile(path.join(to, 'postgresql.auto.conf'), `primary_conninfo = 'host=${host} user=postgres'\n`)
    await writeFile(path.join(to, 'standby.signal'), '')
  } finally {
    await client.end()
  }
  await own(to)
}

/** PostgreSQL refuses files that are not its user's. */
async function own(folder: string): Promise<void> {
  const identity = findIdentity()
  if (!identity) return
  const files = await readdir(folder, { recursive: true })
  for (const file of ['', ...files]) await chown(path.join(folder, file), identity.uid, identity.gid)
}

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
