import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { enterOrganization } from '../../src/domain/context.ts'
import { fileOf, newMediaKey } from '../../src/domain/files/media-keys.ts'
import { exportOrganization } from '../../src/transfer/export-organization.ts'
import { runCliProcess } from '../cli/run-cli.ts'
import { SECRET_KEY } from '../support/known-secrets.ts'
import { mailOf, openTestDatabase } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { takeAssessment } from '../support/submissions.ts'

const INVITES = 100_000
const FILES = 200
const FILE_BYTES = 500_000
const KILLS = 5
/** Invites that are made by one statement, within its time limit. */
const AT_ONCE = 1_000

/** An organization with many invites, three events and a mail of each, and many recordings of one submission. */
async function fill(invites: number, files: number) {
  const service = await startServiceForTest()
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
    const facts = { kind: 'answer', state: 'ready', contentType: 'video/webm', bytes: BigInt(FILE_BYTES) } as const
    await db.mediaFile.create({ data: { id, organizationId, submissionId, key, createdAt, ...facts } })
    await deps.media.put(fileOf(key), Buffer.alloc(FILE_BYTES, i % 251))
  }
  const organization = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const operator = { ...service.system, actor: { kind: 'operator' as const } }
  return { service, ctx: enterOrganization(operator, organization) }
}

const newFolder = (name: string) => mkdtemp(path.join(tmpdir(), name))

/** Kills the command after this time, unless it has ended by itself. */
async function killAfter(args: string[], env: Record<string, string>, milliseconds: number): Promise<void> {
  const environment = { PATH: process.env.PATH ?? '', SECRET_KEY, ...mailOf(env), ...env }
  const child = spawn(process.execPath, ['src/cli.ts', ...args], { env: environment, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await Promise.race([ended, sleep(milliseconds)])
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
    await killAfter(['org', 'import', folder], env, 2_500 + kills * 500)
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

it.runIf(LONG)('exports and imports 100,000 invites in flat memory', { timeout: 1_800_000 }, async () => {
  const { ctx } = await fill(INVITES, FILES)
  const folder = path.join(await newFolder('large-'), 'export')
  const target = await startServiceForTest()
  const memory = { start: process.memoryUsage().rss, most: 0 }
  const watch = setInterval(() => {
    memory.most = Math.max(memory.most, process.memoryUsage().rss)
  }, 100)
  const begin = performance.now()
  const manifest = await exportOrganization(ctx, folder, { movedTo: null })
  const exported = performance.now()
  const { importOrganization } = await import('../../src/transfer/import-organization.ts')
  await importOrganization({ ...target.system, actor: { kind: 'operator' } }, folder)
  const imported = performance.now()
  clearInterval(watch)
  const seconds = (from: number, to: number) => Number(((to - from) / 1_000).toFixed(1))
  process.stdout.write(
    `${JSON.stringify({
      exportSeconds: seconds(begin, exported),
      snapshotSeconds: manifest.snapshotMs / 1_000,
      importSeconds: seconds(exported, imported),
      moreMegabytes: Math.round((memory.most - memory.start) / 1e6),
    })}\n`,
  )
  expect(await target.db.event.count()).toBe(await ctx.db.event.count({ where: { organizationId: ctx.organization.id } }))
  expect(memory.most - memory.start).toBeLessThan(400e6)
  await rm(folder, { recursive: true })
})
