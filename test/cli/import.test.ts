import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { NODE_COMPILE_CACHE } from '../support/processes.ts'
import { SECRET_KEY, startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { runCli, runCliProcess } from './run-cli.ts'

const service = await startServiceForFile()

/** Uses the smallest allowed connection pool. */
const env = () => ({ DATABASE_URL: service.databaseUrl, DATABASE_POOL_SIZE: '2' })
const importFile = (file: string, ...options: string[]) => runCli(['import', file, '--json', ...options], env())
const countsOf = ({ code, stdout, stderr }: Awaited<ReturnType<typeof importFile>>) => {
  expect({ code, stderr: stderr.replace(/^Another import is running: .*\n/, '') }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout).counts
}

/** Writes a file with one organization and its invites. */
async function writeDocument(count: number, fields: object = {}) {
  const [name, assessmentId, id] = [service.make.unique('Imported'), newId(), newId()]
  const invites = Array.from({ length: count }, (_, i) => ({ assessmentId, recipientEmail: `c${i}@example.com`, ...fields }))
  const organizations = [{ id, name, assessments: [{ id: assessmentId, name: 'A' }], invites }]
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'import-')), 'organization.json')
  await writeFile(file, JSON.stringify({ organizations }))
  return { file, id }
}

test('leaves nothing of an import that is killed midway, and can be run again', async () => {
  const { file, id } = await writeDocument(8_000)
  const child = spawn(process.execPath, ['src/cli.ts', 'import', file], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE, SECRET_KEY, ...env() },
  })
  const ended = once(child, 'close')
  const isWriting = async () => {
    const rows = await service.db.$queryRaw<unknown[]>`
      SELECT FROM pg_locks WHERE relation = 'invites'::regclass AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()`
    return rows.length > 0 || undefined
  }
  await waitUntil('the import to write invites', isWriting)
  child.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  expect(await service.db.organization.count({ where: { id } })).toBe(0)
  expect(countsOf(await importFile(file)).invites).toEqual({ created: 8_000, updated: 0, unchanged: 0 })
  expect(await service.db.invite.count({ where: { organizationId: id } })).toBe(8_000)
})

test('loads a file once if two processes import it at the same time', async () => {
  const { file } = await writeDocument(1_000)
  const importInChildProcess = () => runCliProcess(['import', file, '--json'], env())
  const counts = (await Promise.all([importInChildProcess(), importInChildProcess()])).map(countsOf)
  expect(counts.map(({ invites }) => invites.created).sort()).toEqual([0, 1_000])
})

test('resets the progress of invites only with --overwrite-progress', async () => {
  const { file, id } = await writeDocument(1, { status: 'pending' })
  countsOf(await importFile(file))
  const completed = { status: 'completed', completedAt: new Date() } as const
  await service.db.invite.updateMany({ where: { organizationId: id }, data: completed })
  expect(countsOf(await importFile(file)).invites).toMatchObject({ updated: 0, unchanged: 1 })
  expect(countsOf(await importFile(file, '--overwrite-progress')).invites).toMatchObject({ updated: 1 })
  const invite = await service.db.invite.findFirstOrThrow({ where: { organizationId: id } })
  expect(invite).toMatchObject({ status: 'pending', completedAt: null })
})

test('reports a database error during an import in one line, with what to do', async () => {
  const { file, id } = await writeDocument(1, { customMessage: 'refused' })
  await service.db.$executeRawUnsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`)
  await service.db.$executeRawUnsafe(`
    CREATE TRIGGER refuse BEFORE INSERT ON invites FOR EACH ROW WHEN (NEW.custom_message = 'refused') EXECUTE FUNCTION refuse()`)
  const { code, stderr } = await importFile(file)
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^error: Imported .* could not be loaded, and nothing of it was written: .*the disk is full.*\nImport .*\n$/,
  )
  expect(await service.db.organization.count({ where: { id } })).toBe(0)
})
