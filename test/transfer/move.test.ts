import { appendFile, cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readShapes } from '../../src/db/table-rows.ts'
import { enterOrganization } from '../../src/domain/context.ts'
import { eraseOrganization } from '../../src/domain/erasure/erase-organization.ts'
import { eraseRestoredOrganizations } from '../../src/domain/erasure/erase-restored-organizations.ts'
import { resumeOrganization, suspendForMove } from '../../src/domain/erasure/moves.ts'
import { liftSuspension, suspendOrganization } from '../../src/domain/erasure/suspension.ts'
import { exportOrganization } from '../../src/transfer/export-organization.ts'
import { exportedColumns } from '../../src/transfer/export-rows.ts'
import { importOrganization } from '../../src/transfer/import-organization.ts'
import { exportedNames, snake } from '../../src/transfer/tables.ts'
import { runCli } from '../cli/run-cli.ts'
import { signInAs } from '../support/portal.ts'
import { createSampleOrganization } from '../support/sample-organization.ts'
import { startServiceForFile } from '../support/service.ts'
import { tamperWith } from './tamper.ts'

const work = await mkdtemp(path.join(tmpdir(), 'move-'))
const ERASURE_LOG = path.join(work, 'log')
const [source, target] = [await startServiceForFile(), await startServiceForFile({ ERASURE_LOG })]
const own = await createSampleOrganization(source, 'Moving')
const name = 'Moving organization'
const operator = { ...source.system, actor: { kind: 'operator' as const } }
const organization = { id: own.id, name, tier: 'standard' as const }
const ctx = enterOrganization(operator, organization)
const folder = path.join(work, 'export')
const unfinished = path.join(work, 'unfinished')
const moving = { movedTo: 'https://tests.acme.example', settledAfterMs: 0 }
const environment = { DATABASE_URL: target.databaseUrl, DATA_DIR: path.join(work, 'data'), ERASURE_LOG }

it('suspends the organization before it moves, and shows where it moved to', async () => {
  const owner = await signInAs(source, own.id, ['admin'], ['owner'])
  await exportOrganization(ctx, folder, moving)
  const page = await owner.get(owner.home)
  expect(page.status).toBe(403)
  expect(page.text).toContain('has moved')
  expect(page.text).toContain('https://tests.acme.example')
  expect((await source.v1(own.key).get('/invites')).status).toBe(401)
  expect((await owner.post(`${owner.home}hold/keep`)).status).toBe(303)
  expect((await owner.get(owner.home)).status).toBe(403)
})

it('continues an export with the same options only', async () => {
  await cp(folder, unfinished, { recursive: true })
  await rm(path.join(unfinished, 'manifest.json'))
  await expect(exportOrganization(ctx, unfinished, { movedTo: null })).rejects.toThrow(
    /was started with --move https:\/\/tests\.acme\.example: repeat it like that, or use a new folder\.$/,
  )
  expect((await exportOrganization(ctx, unfinished, moving)).media).toMatchObject({ files: 1 })
})

it('is suspended as moved again when its erasure is canceled', async () => {
  await suspendOrganization(ctx, { name })
  expect(await liftSuspension(ctx)).toBe(true)
  const where = { organizationId: own.id }
  expect(await source.db.organizationSuspension.findUniqueOrThrow({ where })).toMatchObject({ reason: 'moved', erasesAt: null })
})

it('is imported and resumed by the command line, which lists the items to create again, without control characters', async () => {
  const hostile = await tamperWith(folder, {
    manifest: ({ itemsToRecreate }) => {
      itemsToRecreate.api_keys = ['a\u001b[2J\u009bkey']
    },
  })
  const imported = await runCli(['org', 'import', hostile], environment)
  expect([imported.code, imported.stderr]).toEqual([0, ''])
  expect(imported.stdout).toMatch(/^Imported Moving organization \([0-9a-f-]{36}\), with 1 photos and recordings/)
  expect(imported.stdout).toMatch(
    /\nCreate again: api keys \(a \[2J key\)\nCreate again: webhook endpoints \(https:\/\/webhooks\.invalid\/\)\n/,
  )
  expect(imported.stdout).toMatch(/\ninvites +1\n/)
  const again = await runCli(['org', 'import', folder], environment)
  expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^error: There is already an organization named Moving/)])
  const resumed = await runCli(['org', 'resume', own.id, '--json'], environment)
  expect(JSON.parse(resumed.stdout)).toEqual({ organization: own.id, repeated: null })
  expect((await runCli(['org', 'resume', own.id], environment)).stderr).toBe('error: Moving organization is not suspended.\n')
  expect(await target.db.inviteEmail.count({ where: { state: 'queued' } })).toBe(0)
  expect((await runCli(['org', 'list', '--json'], environment)).code).toBe(0)
})

it('replaces the media of a killed import, and can be imported again under its name after its erasure', async () => {
  const operatorThere = { ...target.system, actor: { kind: 'operator' as const } }
  const there = enterOrganization(operatorThere, organization)
  await eraseOrganization(there, (await suspendOrganization(there, { name })).id)
  const { media } = target.deps
  const findKeys = async () => {
    const keys: string[] = []
    for await (const files of media.list()) keys.push(...files.map(({ key }) => key))
    return keys
  }
  expect(await findKeys()).toEqual([])
  const deps = { ...target.deps, media: { ...media, deletePrefix: async () => {} } }
  const onProgress = () => {
    throw new Error('killed')
  }
  await expect(importOrganization({ ...operatorThere, deps }, folder, { onProgress })).rejects.toThrow('killed')
  const remaining = await findKeys()
  expect(remaining).toHaveLength(1)
  const report = await importOrganization(operatorThere, folder)
  expect(report).toMatchObject({ organization: { name }, hasNewIds: true })
  expect(report.organization.id).not.toBe(own.id)
  expect(await findKeys()).toEqual(remaining)
  expect(await eraseRestoredOrganizations(operatorThere)).toEqual([])
  expect(await target.db.organization.count()).toBe(1)
})

it('continues with the missing media after an interruption', async () => {
  const interrupted = path.join(work, 'interrupted')
  await exportOrganization(ctx, interrupted, { movedTo: null })
  const rows = await readFile(path.join(interrupted, 'tables', 'tags.jsonl'), 'utf8')
  await rm(path.join(interrupted, 'manifest.json'))
  await source.db.tag.update({ where: { id: own.tag.id }, data: { name: 'Another' } })
  await rm(path.join(interrupted, 'media.jsonl'))
  await appendFile(path.join(interrupted, 'media.jsonl'), '{"id":"torn')
  const manifest = await exportOrganization(ctx, interrupted, { movedTo: null })
  expect(manifest.media).toMatchObject({ files: 1, erased: 0 })
  expect(await readFile(path.join(interrupted, 'tables', 'tags.jsonl'), 'utf8')).toBe(rows)
})

it('refuses to continue a move if the organization was open in between', async () => {
  await rm(path.join(unfinished, 'manifest.json'))
  await resumeOrganization(ctx)
  const changed = /may have changed since its rows were exported: export it to a new folder\.$/
  await expect(exportOrganization(ctx, unfinished, moving)).rejects.toThrow(changed)
  source.clock.advance(1)
  await suspendForMove(ctx, moving)
  await expect(exportOrganization(ctx, unfinished, moving)).rejects.toThrow(changed)
})

/** Exported columns whose names sound like secrets, but aren't. */
const NO_SECRETS = [
  'organizations.logo_hash',
  'organization_security.api_key_networks',
  'organization_security.api_key_max_days',
  'answer_keys.key',
  'library_versions.content_hash',
  'library_import_rows.content_hash',
  'invite_emails.dedupe_key',
  'submissions.consent_text_hash',
  'question_scores.key_number',
]

it('has no column with a secret', async () => {
  const shapes = await readShapes(source.db)
  const columns = exportedNames.flatMap((table) =>
    exportedColumns(table, shapes.get(snake(table))!).map((column) => `${snake(table)}.${column}`),
  )
  expect(columns.filter((column) => /secret|token|hash|encrypted|password|\bkey|_key/.test(column.split('.')[1]!))).toEqual(
    NO_SECRETS,
  )
})
