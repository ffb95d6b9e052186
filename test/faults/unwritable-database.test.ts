import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { copyDatabase } from '../support/copy-database.ts'
import { startProcess } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

const MEGABYTE = 2 ** 20
/** Media are stored elsewhere, so that only the database uses the disk. */
const WITHOUT_MEDIA = { PLAYER_URL: 'https://player.example.com/start' }
const canMount =
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

const READY = '200'
const UNWRITABLE = '503 writes'

/** Returns the status of /readyz and the problems that it names. */
async function readinessOf({ url }: { url: string }): Promise<string> {
  const answer = await fetch(`${url}/readyz`)
  const { problems } = (await answer.json()) as { problems: string[] }
  return [answer.status, ...problems].join(' ')
}
const waitForReadiness = (service: { url: string }, expected: string) =>
  waitUntil(expected, async () => (await readinessOf(service)) === expected || undefined)

it.skipIf(!canMount)("answers /readyz with 503 while the database's disk is full", async () => {
  const disk = await mkdtemp(path.join(tmpdir(), 'assessments-disk-'))
  await chmod(disk, 0o755)
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${400 * MEGABYTE},mode=755`, 'tmpfs', disk])
  onTestFinished(async () => {
    spawnSync('umount', ['--lazy', disk])
    await rm(disk, { recursive: true, force: true })
  })
  const service = await startProcess({ ...WITHOUT_MEDIA, DATA_DIR: disk })
  expect(await readinessOf(service)).toBe(READY)

  const filler = path.join(disk, 'filler')
  const { bavail, bsize } = await statfs(disk)
  await writeFile(filler, Buffer.alloc(bavail * bsize))
  await waitForReadiness(service, UNWRITABLE)
  await rm(filler)
  await waitForReadiness(service, READY)
  await service.waitForLog('the database accepts writes again')
  const loggedEvents = service.log().map(({ event }) => event)
  expect(loggedEvents.filter((event) => /^database_(un)?writable$/.test(String(event)))).toEqual([
    'database_unwritable',
    'database_writable',
  ])
})

it('answers /readyz with 503 while the database is read-only', async () => {
  const DATABASE_URL = await copyDatabase()
  const service = await startProcess({ ...WITHOUT_MEDIA, DATABASE_URL })
  expect(await readinessOf(service)).toBe(READY)
  const client = new Client({ connectionString: DATABASE_URL })
  await client.connect()
  onTestFinished(() => client.end())
  const setReadOnly = async (value: 'on' | 'off') => {
    await client.query('SET default_transaction_read_only = off')
    await client.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${value}', current_database()); END $$`,
    )
    // Existing sessions keep their settings, so terminate them.
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
  }
  await setReadOnly('on')
  await waitForReadiness(service, UNWRITABLE)
  await setReadOnly('off')
  await waitForReadiness(service, READY)
})
