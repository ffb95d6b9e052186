import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCliProcess } from '../cli/run-cli.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { NODE_COMPILE_CACHE } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

const OWN_SECRET = { SECRET_KEY: '' }
const TOO_SMALL = 8 * 2 ** 20

/** True if this process can mount a file system, which takes root outside of a container. */
const canMount = () =>
  process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

const cli = (dataDir: string, args: string[]) => runCliProcess(args, { DATA_DIR: dataDir, ...OWN_SECRET })

async function mount(folder: string, bytes: number): Promise<void> {
  await mkdir(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', folder])
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]))
}

test.runIf(canMount())('reports a full disk during a backup and a restore, and leaves nothing behind', async () => {
  const [dataDir, place] = [await makeDataDir(), await makeDataDir()]
  expect((await cli(dataDir, ['migrate'])).code).toBe(0)
  const [small, other] = [path.join(place, 'small'), path.join(place, 'other')]
  for (const folder of [small, other]) await mount(folder, TOO_SMALL)
  const failed = await cli(dataDir, ['backup', small])
  expect([failed.code, failed.stdout, failed.stderr]).toEqual([1, '', expect.stringContaining('error: The disk is full')])
  expect(await readdir(small)).toEqual([])

  const backup = path.join(place, 'backup')
  expect((await cli(dataDir, ['backup', backup])).code).toBe(0)
  const restore = await cli(other, ['restore', backup])
  expect([restore.code, restore.stdout, restore.stderr]).toEqual([1, '', expect.stringContaining('error: The disk is full')])
  expect(await readdir(other)).toEqual([])
})

test('leaves no usable data folder after a killed restore, and the next restore names the folder to remove', async () => {
  const [dataDir, other, place] = [await makeDataDir(), await makeDataDir(), await makeDataDir()]
  const backup = path.join(place, 'backup')
  expect((await cli(dataDir, ['migrate'])).code).toBe(0)
  expect((await cli(dataDir, ['org', 'create', 'Acme'])).code).toBe(0)
  expect((await cli(dataDir, ['backup', backup])).code).toBe(0)

  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE, DATA_DIR: other, MAIL: 'capture' }
  const child = spawn(process.execPath, ['src/cli.ts', 'restore', backup], { env, stdio: 'ignore' })
  const exited = once(child, 'close')
  const draft = path.join(other, 'restoring')
  await waitUntil('half a database', () => existsSync(path.join(draft, 'postgres/PG_VERSION')) || undefined)
  child.kill('SIGKILL')
  await exited
  expect((await readdir(other)).filter((name) => !name.endsWith('restoring'))).toEqual([])

  const refused = await cli(other, ['restore', backup])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`There is ${draft}`)])
  expect((await cli(other, ['migrate'])).stderr).toContain(`There is ${draft}: a backup is being restored`)
  for (const name of await readdir(other)) await rm(path.join(other, name), { recursive: true })
  expect((await cli(other, ['restore', backup])).code).toBe(0)
  expect((await cli(other, ['org', 'list'])).stdout).toContain('Acme')
})

test('recognizes a killed backup as incomplete, and continues to serve', async () => {
  const [dataDir, place] = [await makeDataDir(), await makeDataDir()]
  const backup = path.join(place, 'backup')
  expect((await cli(dataDir, ['migrate'])).code).toBe(0)
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE, DATA_DIR: dataDir, MAIL: 'capture' }
  const child = spawn(process.execPath, ['src/cli.ts', 'backup', backup], { env, stdio: 'ignore' })
  const exited = once(child, 'close')
  await waitUntil(
    'half a backup',
    () => existsSync(path.join(backup, 'postgres/PG_VERSION')) || existsSync(path.join(backup, 'postgres/base')) || undefined,
  )
  child.kill('SIGKILL')
  await exited
  const refused = await cli(await makeDataDir(), ['restore', backup])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is no complete backup')])
  expect((await cli(dataDir, ['org', 'create', 'Acme'])).code).toBe(0)
  expect((await cli(dataDir, ['backup', path.join(place, 'another')])).code).toBe(0)
})
