import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { v7 as newId } from 'uuid'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Service, startService } from '../support/service.ts'
import { runCli } from './run-cli.ts'

// Each command is a process of its own, and a busy machine starts them slowly.
vi.setConfig({ testTimeout: 60_000 })

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

/** With the smallest pool there may be. */
const env = () => ({ DATABASE_URL: service.databaseUrl, DATABASE_POOL_SIZE: '2' })
const importFile = (file: string, ...options: string[]) => runCli(['import', file, '--json', ...options], env())
const countsOf = ({ code, stdout, stderr }: Awaited<ReturnType<typeof importFile>>) => {
  expect({ code, stderr: stderr.replace(/^Another import is under way: .*\n/, '') }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout).counts
}

/** A file with one organization that has so many invites. */
async function writeDocument(count: number, fields: object = {}) {
  const [name, assessmentId, id] = [service.make.unique('Imported'), newId(), newId()]
  const invites = Array.from({ length: count }, (_, i) => ({ assessmentId, recipientEmail: `c${i}@example.com`, ...fields }))
  const organizations = [{ id, name, assessments: [{ id: assessmentId, name: 'A' }], invites }]
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'import-')), 'organization.json')
  await writeFile(file, JSON.stringify({ organizations }))
  return { file, id }
}

test('--overwrite-progress takes back what happened to invites since, and nothing else does', async () => {
  const { file, id } = await writeDocument(1, { status: 'pending' })
  countsOf(await importFile(file))
  const completed = { status: 'completed', completedAt: new Date() } as const
  await service.db.invite.updateMany({ where: { organizationId: id }, data: completed })
  expect(countsOf(await importFile(file)).invites).toMatchObject({ updated: 0, unchanged: 1 })
  expect(countsOf(await importFile(file, '--overwrite-progress')).invites).toMatchObject({ updated: 1 })
  const invite = await service.db.invite.findFirstOrThrow({ where: { organizationId: id } })
  expect(invite).toMatchObject({ status: 'pending', completedAt: null })
})
