import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { enterOrganization } from '../../src/domain/context.ts'
import { fileOf, newMediaKey } from '../../src/domain/files/media-keys.ts'
import { exportOrganization } from '../../src/transfer/export-organization.ts'
import { exportZipFile } from '../../src/transfer/export-zip-file.ts'
import { importOrganization } from '../../src/transfer/import-organization.ts'
import { runCliProcess } from '../cli/run-cli.ts'
import { SECRET_KEY } from '../support/known-secrets.ts'
import { mailOf, openTestDatabase } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { canMount, mount, resize } from '../support/small-disk.ts'
import { takeAssessment } from '../support/submissions.ts'

const run = promisify(execFile)
const INVITES = 100_000
const FILES = 200
const FILE_BYTES = 500_000
const HEAP_MEBIBYTES = 256
const LARGE_FILES = 1000
const LARGE_FILE_BYTES = 10_000_000
const KILLS = 5
/** Invites that are made by one statement, within its time limit. */
const AT_ONCE = 1_000

/** An organization with many invites, three events and a mail of each, and many recordings of one submission. */
async function fill(
  invites: number,
  files: number,
  { fileBytes = FILE_BYTES, ...env }: { fileBytes?: number; DATA_DIR?: string } = {},
) {
  const service = await startServiceForTest(env)
  const { db, deps } = service
  const { invite, submissionId } = await takeAssessment(service)
  const { organizationId, assessmentId } = invite
  for (let first = 1; first <= invites; first += AT_ONCE)
    await db.$executeRaw`
      WITH made AS (
        INSERT INTO invites (id, organization_id, assessment_id, recipient_email, status, question_replay_limit, answer_record_limit,
          screen_recording, webcam_monitoring, require_id_capture, face_photo_required, sent_at, expires_at, created_at, updated_at)
        SELECT gen_random_uuid(), ${organizationId}::uuid, ${assessmentId}::uuid, 'candidate' || i || '@example.com', 'revoked', 1, 1,
          false, false, false, false, now(), now() + interval '30 days', now(), now()
        FROM generate_series(${first}::int, ${Math.min(first + AT_ONCE - 1, invites)}::int) AS i
        RETURNING id, organization_id
      ), mails AS (
        INSERT INTO invite_emails (id, organization_id, invite_id, link_version, state, created_at, updated_at)
        SELECT gen_random_uuid(), organization_id, id, 1, 'sent', now(), now() FROM made
      )
      INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at)
      SELECT gen_random_uuid(), organization_id, 'invite.revoked', 'live', id, 'system', jsonb_build_object('inviteId', id), now()
      FROM made, generate_series(1, 3)`
  const createdAt = deps.clock()
  for (let i = 0; i < files; i++) {
    const [id, key] = [deps.newId(), newMediaKey({ id: organizationId })]
    const facts = { kind: 'answer', state: 'ready', contentType: 'video/webm', bytes: BigInt(fileBytes) } as const
    await db.mediaFile.create({ data: { id, organizationId, submissionId, key, createdAt, ...facts } })
    await deps.media.put(fileOf(key), Buffer.alloc(fileBytes, i % 251))
  }
  const organization = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const operator = { ...service.system, actor: { kind: 'operator' as const } }
  return { service, ctx: enterOrganization(operator, organization) }
}

const newFolder = (name: string) => mkdtemp(path.join(tmpdir(), name))

/** Kills the command at this moment, unless it has ended by itself. */
async function killAt(moment: Promise<unknown>, args: string[], env: Record<string, string>): Promise<void> {
  const environment = { PATH: process.env.PATH ?? '', SECRET_KEY, ...mailOf(env), ...env }
  const child = spawn(process.execPath, ['src/cli.ts', ...args], { env: environment, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await Promise.race([ended, moment])
  child.kill('SIGKILL')
  await ended
}

it.runIf(LONG)('leaves nothing of an import that is killed, and imports everything at last', { timeout: 600_000 }, async () => {
  const { ctx } = await fill(5_000, FILES)
  const folder = path.join(await newFolder('killed-'), 'export')
  await exportOrganization(ctx, folder, { movedTo: null })
  const target = await openTestDatabase()
  onTestFinished(() => target.db.$disconnect())
  const env = { DATABASE_URL: target.url, DATA_DIR: await newFolder('data-') }
  for (let kills = 0; kills < KILLS; kills++) {
    await killAt(sleep(2_500 + kills * 500), ['org', 'import', folder], env)
    const there = [await target.db.organization.count(), await target.db.invite.count()]
    expect([
      [0, 0],
      [1, 5_001],
    ]).toContainEqual(there)
    if (there[0] === 1) break
  }
  const isThere = (await target.db.organization.count()) === 1
  if (!isThere) expect(await runCliProcess(['org', 'import', folder], env)).toMatchObject({ code: 0, stderr: '' })
  expect(await target.db.invite.count()).toBe(5_001)
  const files = await readdir(path.join(env.DATA_DIR, 'media'), { recursive: true, withFileTypes: true })
  expect(files.filter((entry) => entry.isFile())).toHaveLength(FILES)
})

/** Runs a command with a small heap. @returns its seconds, and the most memory that it had, in megabytes. */
async function measureCommand(args: string[], env: Record<string, string>) {
  const environment = { PATH: process.env.PATH ?? '', SECRET_KEY, ...mailOf(env), ...env }
  const begin = performance.now()
  const options = [`--max-old-space-size=${HEAP_MEBIBYTES}`, 'src/cli.ts', ...args]
  const child = spawn(process.execPath, options, { env: environment, stdio: 'ignore' })
  let megabytes = 0
  const readMemory = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    megabytes = Math.max(megabytes, Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_000))
  }
  const watch = setInterval(readMemory, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  expect([args[1], code]).toEqual([args[1], 0])
  return { seconds: Number(((performance.now() - begin) / 1_000).toFixed(1)), megabytes }
}

it.runIf(LONG)('exports and imports 100,000 invites and 10 GB in flat memory', { timeout: 3_600_000 }, async () => {
  const DATA_DIR = await newFolder('data-')
  const { ctx, service } = await fill(INVITES, LARGE_FILES, { fileBytes: LARGE_FILE_BYTES, DATA_DIR })
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR }
  const folder = await newFolder('large-')
  const { id } = ctx.organization
  const events = await ctx.db.event.count({ where: { organizationId: id } })
  for (const name of ['export', 'export.zip']) {
    const target = await openTestDatabase()
    const there = { DATABASE_URL: target.url, DATA_DIR: await newFolder('data-') }
    const place = path.join(folder, name)
    const [exported, imported] = [
      await measureCommand(['org', 'export', id, place], env),
      await measureCommand(['org', 'import', place], there),
    ]
    process.stdout.write(`${JSON.stringify({ name, exported, imported })}\n`)
    expect(await target.db.event.count()).toBe(events)
    expect(Math.max(exported.megabytes, imported.megabytes)).toBeLessThan(600)
    await target.db.$disconnect()
    await rm(place, { recursive: true })
    await rm(there.DATA_DIR, { recursive: true })
  }
  await rm(DATA_DIR, { recursive: true })
})

const MEBIBYTE = 2 ** 20
const SOME_INVITES = 300
const SOME_FILES = 20
const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

it.skipIf(!canMount())('says that the disk is full, leaves nothing that looks whole, and goes on with more room', async () => {
  const { ctx } = await fill(SOME_INVITES, SOME_FILES)
  const disk = await newFolder('small-')
  await mount(disk, MEBIBYTE / 8) // full before the rows are written
  const [folder, file] = [path.join(disk, 'export'), path.join(disk, 'export.zip')]
  const attempts = async () => {
    await expect(exportOrganization(ctx, folder, { movedTo: null })).rejects.toThrow(
      `The disk of ${folder} is full. Free some space, and run the same command again.`,
    )
    await expect(exportZipFile(ctx, file, { movedTo: null })).rejects.toThrow(`The disk of ${file} is full.`)
    expect([await readdir(disk), await exists(path.join(folder, 'manifest.json'))]).toEqual([['export'], false])
  }
  await attempts()
  resize(disk, 5 * MEBIBYTE) // full while media are copied
  await attempts()
  expect((await readdir(path.join(folder, 'media'))).length).toBeGreaterThan(0)

  resize(disk, 64 * MEBIBYTE)
  expect((await exportOrganization(ctx, folder, { movedTo: null })).media).toMatchObject({ files: SOME_FILES, erased: 0 })
  expect((await exportZipFile(ctx, file, { movedTo: null })).media).toMatchObject({ files: SOME_FILES, erased: 0 })
  const target = await startServiceForTest()
  for (const [place, name] of [
    [folder, 'Of the folder'],
    [file, 'Of the ZIP'],
  ] as const) {
    const report = await importOrganization({ ...target.system, actor: { kind: 'operator' } }, place, { name })
    expect(report).toMatchObject({ counts: { invites: SOME_INVITES + 1 }, media: { files: SOME_FILES } })
  }
})

/** Resolves once the condition holds, or when nobody waits any more. */
async function until(isReached: () => Promise<boolean>, { aborted }: { aborted: () => boolean }): Promise<void> {
  while (!aborted() && !(await isReached().catch(() => false))) await sleep(5)
}

it('exports everything after being killed five times, and nothing looks whole before', { timeout: 600_000 }, async () => {
  const DATA_DIR = await newFolder('data-')
  const { service, ctx } = await fill(SOME_INVITES, SOME_FILES, { DATA_DIR })
  const env = { DATABASE_URL: service.databaseUrl, DATA_DIR }
  const target = await startServiceForTest()
  const importThere = (place: string, name: string) =>
    importOrganization({ ...target.system, actor: { kind: 'operator' } }, place, { name })
  const [folder, file] = [path.join(await newFolder('killed-'), 'export'), path.join(await newFolder('killed-'), 'export.zip')]
  const keys = await service.db.mediaFile.findMany({ select: { key: true }, orderBy: { id: 'asc' } })
  const countCopied = async () => (await readFile(path.join(folder, 'media.jsonl'), 'utf8')).split('\n').length - 1
  const exportUntil = async (place: string, isReached: () => Promise<boolean>) => {
    let isKilled = false
    const moment = until(isReached, { aborted: () => isKilled })
    await killAt(moment, ['org', 'export', ctx.organization.id, place], env)
    isKilled = true
  }
  for (let kill = 0; kill < KILLS; kill++) {
    // Whoever reads this file waits, so no export gets beyond it.
    const copied = kill * 4
    const medium = path.join(DATA_DIR, 'media', fileOf(keys[copied]!.key))
    await rename(medium, `${medium}.away`)
    await run('mkfifo', [medium])
    await rm(`${file}.draft`, { force: true })
    await Promise.all([
      exportUntil(folder, () => (kill === 0 ? exists(path.join(folder, 'tables')) : countCopied().then((n) => n === copied))),
      exportUntil(file, () => stat(`${file}.draft`).then(({ size }) => size > copied * FILE_BYTES)),
    ])
    await rename(`${medium}.away`, medium)
    expect([await exists(path.join(folder, 'manifest.json')), await exists(file)]).toEqual([false, false])
    await expect(importThere(folder, 'Half')).rejects.toThrow('The export is incomplete')
    await expect(importThere(`${file}.draft`, 'Half')).rejects.toThrow('is not a ZIP, or is incomplete or damaged.')
  }
  await exportOrganization(ctx, folder, { movedTo: null })
  await exportZipFile(ctx, file, { movedTo: null })
  const whole = { counts: { invites: SOME_INVITES + 1, media_files: SOME_FILES }, media: { files: SOME_FILES, erased: 0 } }
  expect(await importThere(folder, 'Of the folder')).toMatchObject(whole)
  expect(await importThere(file, 'Of the ZIP')).toMatchObject(whole)
  expect((await readdir(path.dirname(file))).filter((name) => name.endsWith('.draft'))).toEqual([])
})

it('imports one export twice at once as one organization, or as two whole ones', { timeout: 600_000 }, async () => {
  const { ctx } = await fill(SOME_INVITES, SOME_FILES)
  const place = await newFolder('twice-')
  const [folder, file] = [path.join(place, 'export'), path.join(place, 'export.zip')]
  await exportOrganization(ctx, folder, { movedTo: null })
  await exportZipFile(ctx, file, { movedTo: null })
  const target = await openTestDatabase()
  onTestFinished(() => target.db.$disconnect())
  const env = { DATABASE_URL: target.url, DATA_DIR: await newFolder('data-') }
  const importBoth = (names: [string[], string[]]) =>
    Promise.all([
      runCliProcess(['org', 'import', folder, ...names[0]], env),
      runCliProcess(['org', 'import', file, ...names[1]], env),
    ])
  const ended = (await importBoth([[], []])).toSorted((a, b) => a.code! - b.code!)
  expect(ended).toMatchObject([
    { code: 0 },
    { code: 1, stderr: expect.stringContaining('There is already an organization named') },
  ])
  const both = await importBoth([
    ['--name', 'One'],
    ['--name', 'Another'],
  ])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const organizations = await target.db.organization.findMany({ orderBy: { name: 'asc' } })
  expect(organizations.map(({ name }) => name).toSorted()).toEqual([ctx.organization.name, 'Another', 'One'].toSorted())
  const counts = organizations.map(async ({ id: organizationId }) => {
    const where = { organizationId }
    const { db } = target
    const media = await readdir(path.join(env.DATA_DIR, 'media', organizationId), { recursive: true, withFileTypes: true })
    return [
      ...(await Promise.all([
        db.invite.count({ where }),
        db.mediaFile.count({ where }),
        db.organizationSuspension.count({ where }),
      ])),
      media.filter((entry) => entry.isFile()).length,
    ]
  })
  expect(await Promise.all(counts)).toEqual(new Array(3).fill([SOME_INVITES + 1, SOME_FILES, 1, SOME_FILES]))
})
