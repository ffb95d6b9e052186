import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { makeDataDir } from '../support/data-dir.ts'
import { type ServiceProcess, startProcess } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'
import { runCli } from './run-cli.ts'

// Each command, and each service, is a process of its own with a database of its own, and a busy machine starts them slowly.
const OWN_SECRET = { SECRET_KEY: '' }
const startOn = (DATA_DIR: string) => startProcess({ DATA_DIR, ...OWN_SECRET })
const cli = (args: string[], DATA_DIR: string, env = {}) => runCli(args, { DATA_DIR, ...OWN_SECRET, ...env })
const manifestOf = async (folder: string) => JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'))

type Answer = { assessments: { id: string }[]; invite: { id: string } }

/** Asks API v1, with the key that the first start has shown. */
function askWith(key: string) {
  return async ({ url }: ServiceProcess, resource: string, body?: object) => {
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${url}/api/v1${resource}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
}

test('what is backed up while the service works is all there when it is restored, and known to be restored', async () => {
  const dataDir = await makeDataDir()
  const service = await startOn(dataDir)
  const key = await waitUntil('the key', async () => /ak_live_\S{32}/.exec(service.output())?.[0])
  const ask = askWith(key)
  const { id: assessmentId } = (await ask(service, '/assessments?limit=100')).body.assessments.at(-1)!
  const invite = async (name: string) => {
    const answer = await ask(service, '/invites', { assessmentId, recipientEmail: `${name}@example.com` })
    expect(answer.status).toBe(201)
    return answer.body.invite.id as string
  }
  const before = [await invite('before-1'), await invite('before-2')]
  const mail = await waitUntil('the mail', async () => {
    const mailbox = await (await fetch(`${service.url}/dev/mailbox?search=before-1@example.com`)).text()
    return /\/dev\/mailbox\/[0-9a-f-]{36}/.exec(mailbox)?.[0]
  })
  const [link] = /\/i\/[\w-]+/.exec(await (await fetch(service.url + mail)).text())!
  await mkdir(path.join(dataDir, 'media/one'), { recursive: true })
  await writeFile(path.join(dataDir, 'media/one/file'), 'a recording')

  const folder = path.join(dataDir, 'backup')
  let isDone = false
  const backup = cli(['backup', folder], dataDir).finally(() => {
    isDone = true
  })
  for (let i = 0; i < 20 && !isDone; i++) await invite(`meanwhile-${i}`) // more would be too many a minute
  expect(await backup).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('1 files of photos and recordings') })
  const after = await invite('after')
  service.kill('SIGTERM')
  await service.exited

  const elsewhere = path.join(await makeDataDir(), 'data')
  expect(await cli(['restore', folder], elsewhere)).toMatchObject({ code: 0, stderr: '' })
  expect(await readFile(path.join(elsewhere, 'media/one/file'), 'utf8')).toBe('a recording')
  const restored = await startOn(elsewhere)
  await restored.waitForLog(
    'the database has been restored: the feed goes on behind a gap, and readers from within it list everything again',
  )
  for (const id of before) expect((await ask(restored, `/invites/${id}`)).status).toBe(200)
  expect((await ask(restored, `/invites/${after}`)).status).toBe(404)
  expect((await fetch(restored.url + link)).status).toBe(200)
  expect((await ask(restored, '/invites', { assessmentId, recipientEmail: 'after@example.com' })).status).toBe(201)
  restored.kill('SIGTERM')
  await restored.exited

  expect((await cli(['restore', folder], elsewhere)).stderr).toMatch(/is there already: restore into an empty DATA_DIR/)
})

test('a backup that is not whole, or of another version, is refused before anything is restored', async () => {
  const dataDir = await makeDataDir()
  expect((await cli(['migrate'], dataDir)).code).toBe(0)
  const folder = path.join(dataDir, 'backup')
  // It has always run with a SECRET_KEY.
  await rm(path.join(dataDir, 'secret-key'), { force: true })
  expect((await cli(['backup', folder], dataDir)).stderr).toMatch(/There is no secret in .*: set the SECRET_KEY/)
  // Nothing runs: the command starts the database, and stops it.
  expect(await cli(['backup', folder], dataDir, { SECRET_KEY: 'x'.repeat(32) })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('SECRET_KEY is not in the backup: keep it apart.'),
  })
  expect((await cli(['backup', folder], dataDir, { SECRET_KEY: 'x'.repeat(32) })).stderr).toMatch(/is not empty/)
  const elsewhere = path.join(dataDir, 'elsewhere')
  const refused = async () => {
    const { code, stderr } = await cli(['restore', folder], elsewhere)
    expect([code, await readdir(elsewhere).catch(() => [])]).toEqual([1, []])
    return stderr
  }
  const manifest = await manifestOf(folder)
  const write = (changed: object) => writeFile(path.join(folder, 'manifest.json'), JSON.stringify({ ...manifest, ...changed }))
  await write({ postgres: '17' })
  expect(await refused()).toMatch(/The backup is of PostgreSQL 17, and this release brings \d+/)
  await write({})
  await appendFile(path.join(folder, 'database/PG_VERSION'), ' ')
  expect(await refused()).toMatch(/database\/PG_VERSION is not what it was/)
  await rm(path.join(folder, 'database/PG_VERSION'))
  expect(await refused()).toMatch(/database\/PG_VERSION is missing/)
  await rm(path.join(folder, 'manifest.json'))
  expect(await refused()).toMatch(/no backup, or one that was interrupted/)
})

test('a database of its own is left to its own tools, and where there is none nothing is backed up', async () => {
  const DATA_DIR = await makeDataDir()
  const env = { DATABASE_URL: 'postgresql://localhost/none', SECRET_KEY: 'x'.repeat(32) }
  for (const command of ['backup', 'restore'])
    expect(await cli([command, path.join(DATA_DIR, 'backup')], DATA_DIR, env)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('pg_dump or pg_basebackup'),
    })
  expect((await cli(['backup', path.join(DATA_DIR, 'backup')], path.join(DATA_DIR, 'data'))).stderr).toMatch(
    /There is no database in/,
  )
})
