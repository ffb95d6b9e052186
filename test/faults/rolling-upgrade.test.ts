import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { findFreePort } from '../support/free-port.ts'
import { hasHaproxy, startHaproxy } from '../support/haproxy.ts'
import { putUnderLoad } from '../support/load.ts'
import { writeMigration } from '../support/migrations-folder.ts'
import { openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const orSkipped = hasHaproxy ? '' : ' (skipped: there is no haproxy on this machine)'
const ROOT = path.join(import.meta.dirname, '../..')
/** Seconds. HAProxy notices a stopping server after up to three checks, 2 s apart. */
const STOP_NOTICE = '7'

/** Copies the sources as the next minor version, and adds a migration of each kind. @returns the path of its server. */
async function makeNewerRelease(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-newer-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const part of ['src', 'prisma/migrations']) await cp(path.join(ROOT, part), path.join(folder, part), { recursive: true })
  const [major, minor] = manifest.version.split('.').map(Number) as [number, number]
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version: `${major}.${minor + 1}.0` }))
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const migrations = path.join(folder, 'prisma/migrations')
  await writeMigration(migrations, '29990101000000_note', 'ALTER TABLE "invites" ADD COLUMN "note" TEXT;')
  const fill = "-- no-transaction\nDO $$\nBEGIN\n  UPDATE invites SET note = '' WHERE note IS NULL;\n  COMMIT;\nEND\n$$;"
  await writeMigration(migrations, '29990101000050_fill_note', fill)
  const index = '-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "invites_note_idx" ON "invites" ("note");'
  await writeMigration(migrations, '29990101000100_invites_note_idx', index)
  return path.join(folder, 'src/server.ts')
}

it.skipIf(!hasHaproxy)(
  `loses no request while the next release migrates and replaces this one behind a load balancer, nor during the rollback${orSkipped}`,
  async () => {
    const database = await openTestDatabase()
    onTestFinished(() => database.db.$disconnect())
    const { id, key } = await database.make.organization()
    const { id: assessmentId } = await database.make.assessment(id)
    const ports: Record<string, number> = {}
    for (const name of ['old1', 'old2', 'new1', 'new2', 'back1', 'back2']) ports[name] = await findFreePort()
    const start = (name: string, args?: string[]): Promise<ServiceProcess> => {
      const env = { DATABASE_URL: database.url, PORT: String(ports[name]), STOP_NOTICE, RATE_LIMIT_STANDARD: '1000000' }
      return startProcess(env, args)
    }
    const older = await Promise.all(['old1', 'old2'].map((name) => start(name)))
    const haproxy = await startHaproxy(ports)
    await haproxy.waitFor('UP', ['old1', 'old2'])
    await haproxy.waitFor('DOWN', ['new1', 'new2', 'back1', 'back2'])

    const load = putUnderLoad({ url: haproxy.url, key, assessmentId }, { kept: true, clients: 4, pause: scaled(50, 5) })
    const served = (count: number) => waitUntil('the load', () => load.outcomes.length >= count || undefined)
    await served(50)
    const stop = async (names: string[], services: ServiceProcess[]) => {
      for (const service of services) {
        service.kill('SIGTERM')
        expect(await service.exited).toEqual({ code: 0, signal: null })
      }
      await haproxy.waitFor('DOWN', names)
      await served(load.outcomes.length + 50)
    }
    const release = await makeNewerRelease()
    const first = await start('new1', [release])
    const migrated = load.outcomes.length
    const newer = [first, await start('new2', [release])]
    await haproxy.waitFor('UP', ['old1', 'old2', 'new1', 'new2'])
    await stop(['old1', 'old2'], older)

    const back = await Promise.all(['back1', 'back2'].map((name) => start(name)))
    expect(back.map((service) => service.output().includes('a newer release has migrated'))).toEqual([true, true])
    await haproxy.waitFor('UP', ['back1', 'back2'])
    await stop(['new1', 'new2'], newer)
    await load.stop()

    const { outcomes } = load
    const acknowledged = outcomes.filter(({ status }) => status === 201).map(({ email }) => email!)
    const lost = outcomes.filter(({ complete, status }) => !complete || (status !== 200 && status !== 201))
    const { econ, eresp, wretr, hrsp_5xx } = (await haproxy.read('BACKEND'))!
    process.stdout.write(
      `${outcomes.length} requests, ${migrated} until the newer release served, ${acknowledged.length} invites, ${lost.length} lost; haproxy: ${econ} connections failed, ${eresp} answers failed, ${wretr} retries\n`,
    )
    expect(lost).toEqual([])
    expect([econ, eresp, wretr, hrsp_5xx]).toEqual(['0', '0', '0', '0'])
    const kept = await database.db.invite.findMany({ select: { recipientEmail: true } })
    expect(kept.map(({ recipientEmail }) => recipientEmail).sort()).toEqual(acknowledged.sort())
  },
)
