import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { afterEach, expect, it } from 'vitest'
import { type EmbeddedDatabase, releaseEmbeddedDatabases, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { itSlow } from '../support/slow.ts'
import { waitUntil } from '../support/wait-until.ts'

// Servers and folders of the running test. They are stopped and removed even if the test fails.
const started: EmbeddedDatabase[] = []
const folders: string[] = []
afterEach(async () => {
  for (const database of started.splice(0)) {
    await database.release()
    folders.push(database.folder)
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function makeDataDir(...below: string[]): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'embedded-test-'))
  folders.push(root)
  // If started by root, the server runs as another user, who needs access to this folder. The tests restrict the folders below it.
  await chmod(root, 0o755)
  const dataDir = path.join(root, ...below)
  await mkdir(dataDir, { recursive: true })
  return dataDir
}

async function start(dataDir: string): Promise<EmbeddedDatabase> {
  const database = await startEmbeddedDatabase({ dataDir, durable: false })
  started.push(database)
  return database
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // the server stops
  await client.connect()
  return client
}
async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = await connect(url)
  const { rows } = await client.query({ text: sql, rowMode: 'array' })
  await client.end()
  return rows.flat()
}
const startTime = (url: string) => ask(url, 'SELECT pg_postmaster_start_time()::text')

/** Starts or joins the database in a child process. @returns the process and the database's URL. */
async function startInChild(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const module = path.join(import.meta.dirname, '../../src/db/embedded.ts')
  const script = `
    import { startEmbeddedDatabase } from ${JSON.stringify(module)}
    const { url } = await startEmbeddedDatabase({ dataDir: ${JSON.stringify(dataDir)}, durable: false })
    console.log(url)
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = await once(createInterface(child.stdout!), 'line')
  return { child, url: url as string }
}
async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

it('shares the database with later starts on the same folder, and stops it with the last one', async () => {
  const dataDir = await makeDataDir()
  const one = await start(dataDir)
  const other = await start(dataDir)
  expect(other.url).toBe(one.url)
  expect(await startTime(other.url)).toEqual(await startTime(one.url))

  const inUse = await connect(other.url)
  await one.release()
  expect((await inUse.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await inUse.end()
  await other.release()
  await expect(connect(one.url)).rejects.toThrow(/ENOENT|ECONNREFUSED/)
})

it('stops the database despite open connections of its process, unless another process uses it', async () => {
  const dataDir = await makeDataDir()
  const { url } = await start(dataDir)
  const other = await startInChild(dataDir)
  const open = await connect(url)
  await releaseEmbeddedDatabases()
  expect((await open.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])

  await start(dataDir)
  await kill(other.child)
  await waitUntil('the lock of the killed process to be gone', async () => {
    const { rows } = await open.query(`SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory'`)
    return rows[0].held === 1 || undefined
  })
  await releaseEmbeddedDatabases()
  await expect(connect(url)).rejects.toThrow(/ENOENT|ECONNREFUSED/)
})

itSlow('keeps the data and the running server after kill -9 of the starting process', async () => {
  const dataDir = await makeDataDir()
  const { child, url } = await startInChild(dataDir)
  await ask(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
  const since = await startTime(url)
  await kill(child)

  const database = await start(dataDir)
  expect(database.url).toBe(url)
  expect(await startTime(url)).toEqual(since)
  await database.release()

  const again = await start(dataDir)
  expect(await startTime(again.url)).not.toEqual(since)
  expect(await ask(again.url, 'SELECT answer FROM kept')).toEqual([42])
})

itSlow('starts one database for two concurrent starts on a new folder', async () => {
  const dataDir = await makeDataDir()
  const [one, other] = await Promise.all([startInChild(dataDir), startInChild(dataDir)])
  expect(other.url).toBe(one.url)
  await ask(one.url, 'CREATE TABLE shared AS SELECT 1 AS one')
  expect(await ask(other.url, 'SELECT one FROM shared')).toEqual([1])
  await Promise.all([kill(one.child), kill(other.child)])
  await start(dataDir) // so that afterEach stops it
})

it.skipIf(process.getuid?.() !== 0)(
  "fails instead of creating another database when root's PostgreSQL can't reach the existing one",
  async () => {
    const dataDir = await makeDataDir('closed', 'data')
    await (await start(dataDir)).release()
    await chmod(path.dirname(dataDir), 0o700)
    await expect(start(dataDir)).rejects.toThrow(`The database in ${dataDir} can not be reached`)
    await chmod(path.dirname(dataDir), 0o755)
    expect((await start(dataDir)).home).toBe(dataDir)
  },
)

it('runs one server per folder, even if the path is too long for a socket, and without network access', async () => {
  const long = await makeDataDir('x'.repeat(60), 'y'.repeat(60))
  const [one, other] = await Promise.all([start(await makeDataDir()), start(long)])
  expect(other.url).not.toBe(one.url)
  await ask(one.url, 'CREATE TABLE only_here (id int)')
  for (const { url } of [one, other]) {
    expect(await ask(url, `SELECT current_setting('listen_addresses'), current_setting('server_encoding')`)).toEqual(['', 'UTF8'])
    const socket = new URL(url).searchParams.get('host')!
    expect(`${socket}/.s.PGSQL.5432`.length).toBeLessThanOrEqual(107)
    folders.push(socket)
  }
  expect(await ask(other.url, `SELECT to_regclass('only_here')`)).toEqual([null])
  expect(other.folder.startsWith(long)).toBe(true)
})
