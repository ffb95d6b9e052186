import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createDb, openPool } from '../../src/db/client.ts'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { REQUIREMENTS } from '../../src/domain/submissions/needs.ts'
import { readManifest, writeManifest } from '../../src/runtime/backup-manifest.ts'
import { loadConfig } from '../../src/runtime/config.ts'
import { restoreBackup } from '../../src/runtime/restore.ts'
import { makeDataDir } from '../support/data-dir.ts'
import type { FeedItem } from '../support/events.ts'
import { factories, systemOn } from '../support/factories.ts'
import { ask, type ServiceProcess, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { SECRET_KEY } from '../support/service.ts'
import { jpeg } from '../support/submissions.ts'
import { waitUntil } from '../support/wait-until.ts'
import { runCliProcess } from './run-cli.ts'

/** Uses the secret key that is stored with the embedded database. */
const OWN_SECRET = { SECRET_KEY: '' }
const TAB = '0c5f7e0e-9d3c-4d5e-8f57-0d6a3f3b7a11'
const PHOTO = jpeg('a face')

const cli = (dataDir: string, args: string[], env: Record<string, string> = {}) =>
  runCliProcess(args, { DATA_DIR: dataDir, ...OWN_SECRET, ...env })

/** Creates an organization with a key, and a candidate who can upload photos, in the database of a running service. */
async function createCandidate(dataDir: string, service: ServiceProcess) {
  const database = await startEmbeddedDatabase({ dataDir })
  const db = createDb(openPool(database.url, { max: 2 }))
  try {
    const system = systemOn(db)
    const { deps } = system
    const make = factories(system)
    const { id: organizationId, key } = await make.organization({ tier: 'enterprise' })
    const { id: assessmentId } = await make.assessment(organizationId)
    const invite = async (by: ServiceProcess, recipientEmail: string): Promise<string> => {
      const answer = await ask(by, key, '/invites', { assessmentId, recipientEmail, sendEmail: false })
      expect(answer.status).toBe(201)
      return ((await answer.json()) as { invite: { id: string } }).invite.id
    }
    const inviteId = await invite(service, 'candidate@example.com')
    const { link } = (await (await ask(service, key, `/invites/${inviteId}/link`)).json()) as { link: string }
    const now = deps.clock()
    await db.invite.update({ where: { id: inviteId }, data: { status: 'accepted', acceptedAt: now } })
    const consent = { consentVersion: 1, consentMedia: [...REQUIREMENTS], consentAt: now }
    const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
    const submission = { id: deps.newId(), organizationId, inviteId, assessmentId, tab: TAB, createdAt: now, updatedAt: now }
    await db.submission.create({ data: { ...submission, ...consent, ...limits } })
    return { key, invite, link: new URL(link).pathname }
  } finally {
    await db.$disconnect()
    await database.release()
  }
}

/** Waits until the feed has an event of the invite. Returns the cursor of the feed's end. */
async function readCursorBehind(service: ServiceProcess, key: string, inviteId: string): Promise<string> {
  let cursor = ''
  let isThere = false
  return waitUntil('the event in the feed', async () => {
    const answer = await ask(service, key, `/events?${cursor && `cursor=${cursor}`}`)
    const page = (await answer.json()) as { events: FeedItem[]; cursor: string; hasMore: boolean }
    isThere ||= page.events.some(({ data }) => data.inviteId === inviteId)
    cursor = page.cursor
    return isThere && !page.hasMore ? cursor : undefined
  })
}

test('backs up a service under writes, and restores elsewhere everything acknowledged before the backup', async () => {
  const [dataDir, other] = [await makeDataDir(), await makeDataDir()]
  const backup = path.join(await makeDataDir(), 'backup')
  const env = { ...OWN_SECRET, RATE_LIMIT_ENTERPRISE: '1000000', MAX_REQUEST_WAIT: '60000' }
  const service = await startProcess({ ...env, DATA_DIR: dataDir })
  const { key, invite, link } = await createCandidate(dataDir, service)
  const photo = `${link}/session/photos/face_photo`
  const headers = { 'content-type': 'image/jpeg', 'x-tab': TAB }
  expect((await fetch(service.url + photo, { method: 'PUT', headers, body: new Uint8Array(PHOTO) })).status).toBe(204)

  const acknowledged: string[] = []
  let isOver = false
  const writing = (async () => {
    while (!isOver) acknowledged.push(await invite(service, `sam-${acknowledged.length}@example.com`))
  })()
  await waitUntil('some invites', () => acknowledged.length >= 20 || undefined)
  const before = acknowledged.slice()
  const made = await cli(dataDir, ['backup', backup, '--json'])
  const after = acknowledged.length
  isOver = true
  await writing
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(made.stdout)).toMatchObject({ folder: backup, postgres: '18', without: [] })
  expect(after).toBeGreaterThan(before.length)
  expect((await stat(path.join(backup, 'secret-key'))).mode & 0o777).toBe(0o600)
  expect((await stat(backup)).mode & 0o777).toBe(0o700)
  // Clients may have read events that the backup doesn't contain.
  const ofLostEvent = await readCursorBehind(service, key, await invite(service, 'lost@example.com'))
  service.kill('SIGTERM')
  await service.exited

  expect(await cli(other, ['restore', backup])).toMatchObject({ code: 0, stderr: '' })
  const restored = await startProcess({ ...env, DATA_DIR: other })
  await restored.waitForLog(
    'the database was restored or failed over: the feed continues after a gap, and readers within the gap have to list everything again',
  )
  for (const id of before) expect((await ask(restored, key, `/invites/${id}`)).status, id).toBe(200)
  expect((await fetch(restored.url + link)).status).toBe(200)
  const shown = await fetch(restored.url + photo)
  expect([shown.status, Buffer.from(await shown.arrayBuffer())]).toEqual([200, PHOTO])
  // Creates more events than were lost, in case the restored service assigned the lost positions again.
  const later = [...acknowledged, ''].map((_, i) => invite(restored, `later-${i}@example.com`))
  await readCursorBehind(restored, key, (await Promise.all(later)).at(-1)!)
  expect((await ask(restored, key, `/events?cursor=${ofLostEvent}`)).status).toBe(410)
})

test.runIf(LONG)('rejects an incomplete backup, one of another version, or an occupied folder, and writes nothing', async () => {
  const [dataDir, other, place] = [await makeDataDir(), await makeDataDir(), await makeDataDir()]
  expect((await cli(dataDir, ['backup', path.join(place, 'none')])).stderr).toContain('There is no database in')
  expect((await cli(dataDir, ['migrate'])).code).toBe(0)
  const backup = path.join(place, 'backup')
  await rename(path.join(dataDir, 'secret-key'), path.join(dataDir, 'away')).catch(() => {})
  expect((await cli(dataDir, ['backup', path.join(place, 'none')])).stderr).toContain('set the SECRET_KEY')
  await rename(path.join(dataDir, 'away'), path.join(dataDir, 'secret-key')).catch(() => {})
  // The backup includes neither a secret from the environment nor media in a bucket.
  const elsewhere = { SECRET_KEY, MEDIA_URL: 's3://bucket/prefix?region=eu-central-1' }
  const { code, stdout } = await cli(dataDir, ['backup', backup], elsewhere)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Not in it: photos and recordings.*\nNot in it: the secret/)])
  expect(await readdir(backup)).toEqual(['manifest.json', 'postgres'])

  const again = await cli(dataDir, ['backup', backup])
  expect([again.code, again.stderr]).toEqual([1, `error: ${backup} is not empty.\n`])
  const server = { DATABASE_URL: 'postgresql://localhost/any', SECRET_KEY }
  for (const command of ['backup', 'restore'])
    expect(await cli(dataDir, [command, backup], server)).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/pg_basebackup or pg_dump/),
    })

  const refused = async (why: string, into = other) => {
    await expect(restoreBackup(loadConfig({ ...OWN_SECRET, DATA_DIR: into, MAIL: 'capture' }), backup)).rejects.toThrow(why)
  }
  await refused(`There is ${path.join(dataDir, 'postgres')} already`, dataDir)
  const control = path.join(backup, 'postgres/global/pg_control')
  await flip(control)
  await refused(`${control} is not as the backup wrote it`)
  await flip(control)
  await rename(control, `${control}.away`)
  await refused(`${control} is missing`)
  await rename(`${control}.away`, control)
  const manifest = await readManifest(backup)
  const file = path.join(backup, 'manifest.json')
  await rm(file)
  await refused(`${backup} is no complete backup`)
  await writeManifest(backup, { ...manifest, postgres: '17' })
  await refused('The backup is of PostgreSQL 17, and this release comes with 18')
  await writeManifest(backup, manifest)
  await writeFile(file, (await readFile(file, 'utf8')).replace('"postgres":"18"', '"postgres":"19"'))
  await refused(`${file} is not as the backup wrote it`)
  await writeManifest(backup, manifest)
  expect(await readdir(other)).toEqual([])

  await mkdir(path.join(other, 'media/organization'), { recursive: true })
  await refused(`There is ${path.join(other, 'media')} already`)
  await rm(path.join(other, 'media'), { recursive: true })
  expect(await cli(other, ['restore', backup])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Set MEDIA_URL as it was\.\n.*Set SECRET_KEY as it was/),
  })
  expect(await readdir(other)).toEqual(['postgres'])
  const secretKey = await readFile(path.join(dataDir, 'secret-key'), 'utf8')
  expect((await cli(other, ['org', 'list'], { SECRET_KEY: secretKey })).code).toBe(0)
})

/** Flips a bit of the first byte. Flipping it twice restores the file. */
async function flip(file: string): Promise<void> {
  await using handle = await open(file, 'r+')
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, 0)
  await handle.write(Buffer.from([buffer[0]! ^ 1]), 0, 1, 0)
}
