import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findIdentity } from '../../src/db/embedded-files.ts'
import { addCleanup } from './endings.ts'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0

type Pooling = {
  mode?: 'transaction' | 'session'
  /** Maximum number of database sessions. */
  size?: number
  /** Statement sent to each new session. */
  atConnect?: string
}

/**
 * Starts a PgBouncer in front of this database's server, with Debian's defaults except for the options. It stops with the test.
 *
 * @returns its URL for the database.
 */
export async function startPgbouncer(
  databaseUrl: string,
  { mode = 'transaction', size = 10, atConnect }: Pooling = {},
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-pgbouncer-'))
  await chmod(folder, 0o755) // PgBouncer refuses to run as root, so another user reads the folder
  const port = await findFreePort()
  const { pathname, searchParams } = new URL(databaseUrl)
  const query = atConnect === undefined ? '' : ` connect_query='${atConnect.replaceAll("'", "''")}'`
  const configuration = `[databases]
* = host=${searchParams.get('host')} user=postgres${query}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 1000
`
  const file = path.join(folder, 'pgbouncer.ini')
  await writeFile(file, configuration)
  const child = spawn('pgbouncer', ['-q', file], { stdio: ['ignore', 'ignore', 'pipe'], ...findIdentity() })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const exited = once(child, 'close')
  addCleanup(async () => {
    child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true })
  })
  // Only connect, and start no session: sessions from before the service has changed its role's settings would keep the old settings.
  await waitUntil('pgbouncer', async () => {
    if (child.exitCode !== null) throw new Error(said)
    const socket = connect(port, '127.0.0.1')
    return once(socket, 'connect').then(
      () => Boolean(socket.destroy()),
      () => undefined,
    )
  })
  return `postgresql://postgres@127.0.0.1:${port}${pathname}`
}

/** Returns the database settings of a service, through PgBouncer if the run has one (test/operations/vitest.config.ts). */
export async function databaseSettings(databaseUrl: string): Promise<Record<string, string>> {
  const mode = process.env.TEST_POOLER as Pooling['mode']
  if (mode === undefined) return { DATABASE_URL: databaseUrl }
  const pooled = await startPgbouncer(databaseUrl, { mode })
  return { DATABASE_URL: pooled, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: databaseUrl }
}
