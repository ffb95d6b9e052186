import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { enterOrganization } from '../../src/domain/context.ts'
import { fileOf } from '../../src/domain/files/media-keys.ts'
import { caseKey } from '../../src/domain/text/fold-text.ts'
import { exportOrganization } from '../../src/transfer/export-organization.ts'
import { importOrganization } from '../../src/transfer/import-organization.ts'
import type { Manifest } from '../../src/transfer/manifest.ts'
import { createSampleOrganization } from '../support/sample-organization.ts'
import { startServiceForFile } from '../support/service.ts'
import { tamperWith } from './tamper.ts'

const service = await startServiceForFile()
const { db } = service
const operator = { ...service.system, actor: { kind: 'operator' as const } }
const folder = path.join(await mkdtemp(path.join(tmpdir(), 'export-')), 'export')
const own = await createSampleOrganization(service, 'Moving')
const other = await createSampleOrganization(service, 'Others')
const { name } = await db.organization.findUniqueOrThrow({ where: { id: own.id } })
await db.organization.update({ where: { id: own.id }, data: { nameKey: caseKey(name) } })
const ctx = enterOrganization(operator, { id: own.id, name, tier: 'standard' as const })
await exportOrganization(ctx, folder, { movedTo: null })
const othersUser = await db.user.findUniqueOrThrow({ where: { id: other.member.userId } })

const setAll = (values: object) => (row: Record<string, unknown>) => void Object.assign(row, values)
const set = (table: string, values: object) => tamperWith(folder, { rows: { [table]: setAll(values) } })
const manifest = (change: (manifest: Manifest) => void) => tamperWith(folder, { manifest: change })
const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])

/** Forged exports, with the expected error message. */
const REFUSED: [what: string, make: () => Promise<string>, sentence: RegExp][] = [
  [
    'a newer format',
    () =>
      manifest((it) => {
        it.format = 2
      }),
    /has format 2, of release .*\. This release reads up to format 1\.$/,
  ],
  [
    'a table of a newer release',
    () =>
      manifest((it) => {
        it.tables.fees = it.tables.tags!
      }),
    /has a table fees, which/,
  ],
  [
    'an omitted table',
    () =>
      manifest((it) => {
        it.tables.sign_in_domains = it.tables.tags!
      }),
    /table sign_in_domains/,
  ],
  [
    'a path for a table',
    () =>
      manifest((it) => {
        it.tables['../tags'] = it.tables.tags!
      }),
    /has a table \.\.\/tags, which/,
  ],
  ['a tier', () => set('organizations', { tier: 'enterprise' }), /has a column organizations\.tier, which/],
  ['a limit', () => set('organizations', { mails_per_day: 0 }), /has a column organizations\.mails_per_day/],
  ['a sign-in', () => set('members', { credential_id: other.member.id }), /has a column members\.credential_id/],
  ['a key of the store', () => set('assets', { key: `${other.id}/logo` }), /has a column assets\.key/],
  ['another organization', () => set('invites', { organization_id: other.id }), /has a column invites\.organization_id/],
  [
    "somebody else's account",
    () => set('members', { user_id: othersUser.id, email: othersUser.email }),
    /members has a row whose account is not in the export/,
  ],
  [
    "another organization's assessment",
    () => set('invites', { assessment_id: other.assessment.id }),
    /invites has a row that the database refuses/,
  ],
  ['a page as a picture', () => set('assets', { content_type: 'text/html' }), /assets has a row whose content_type is refused/],
  ['a script as an address', () => set('invites', { return_url: ' JavaScript:alert(1)' }), /whose return_url is refused/],
  ['two addresses', () => set('invites', { recipient_email: 'a@b.example, c@d.example' }), /whose recipient_email is refused/],
  ['deep nesting', () => set('questions', { rubric: deep(100) }), /questions has an invalid row/],
  ['an id that is none', () => set('tags', { id: "'; DROP TABLE tags" }), /tags has a row whose id is refused/],
  [
    'fewer rows than it says',
    () =>
      manifest((it) => {
        it.tables.tags!.rows = 2
      }),
    /tags\.jsonl does not match the manifest/,
  ],
  [
    'no organization',
    () =>
      manifest((it) => {
        delete it.tables.organizations
      }),
    /has no organization, or several\.$/,
  ],
  [
    'an id in capital letters',
    () =>
      manifest((it) => {
        it.organization.id = own.id.toUpperCase()
      }),
    /organizations has another id than the manifest\.$/,
  ],
  [
    'a blank name',
    () =>
      manifest((it) => {
        it.organization.name = ' '
      }),
    /has an invalid name of the organization\.$/,
  ],
  [
    'impossible positions',
    () =>
      manifest((it) => {
        it.positions.events = 2 ** 52
      }),
    /ends of the feeds are impossible/,
  ],
]

it.for(REFUSED)('refuses %s, and writes nothing', async ([, make, sentence]) => {
  const before = await db.organization.count()
  await expect(importOrganization(operator, await make(), { name: 'Tampered' })).rejects.toThrow(sentence)
  expect(await db.organization.count()).toBe(before)
})

it('leaves an existing organization unchanged if an export claims its id', async () => {
  const where = { organizationId: other.id }
  const { key } = await db.asset.findFirstOrThrow({ where: { id: other.picture.id } })
  const read = () =>
    Promise.all([
      db.organization.findUniqueOrThrow({ where: { id: other.id } }),
      db.organizationSuspension.count({ where }),
      db.organizationDailyInviteCount.findMany({ where, orderBy: [{ mode: 'asc' }, { day: 'asc' }, { slot: 'asc' }] }),
      db.invite.count({ where }),
      service.deps.media.size(fileOf(key)),
    ])
  const before = await read()
  expect(before[2].length).toBeGreaterThan(0)
  expect(before[4]).toBeGreaterThan(0)
  const claim = (it: Manifest) => void Object.assign(it.organization, { id: other.id })
  const attempt = (place: string) => importOrganization(operator, place, { name: 'Claimed' })
  await expect(attempt(await manifest(claim))).rejects.toThrow(/organizations has another id than the manifest\.$/)
  const withoutTables = manifest((it) => {
    claim(it)
    it.tables = {}
  })
  await expect(attempt(await withoutTables)).rejects.toThrow(/has no organization, or several\.$/)
  expect(await read()).toEqual(before)
  const both = await tamperWith(folder, { manifest: claim, rows: { organizations: setAll({ id: other.id }) } })
  const report = await attempt(both)
  expect(report.hasNewIds).toBe(true)
  expect(report.organization.id).not.toBe(other.id)
  expect(await read()).toEqual(before)
})

it('refuses a manifest that is a link, no file, or too large', async () => {
  const attempt = async (change: (file: string) => Promise<unknown>) => {
    const file = path.join(await tamperWith(folder, {}), 'manifest.json')
    await rename(file, `${file}.real`)
    await change(file)
    return importOrganization(operator, path.dirname(file), { name: 'Damaged' })
  }
  await expect(attempt((file) => symlink(`${file}.real`, file))).rejects.toThrow(/is a link, or can't be opened\.$/)
  await expect(attempt((file) => promisify(execFile)('mkfifo', [file]))).rejects.toThrow(/is not a regular file\.$/)
  const enlarge = (file: string) => writeFile(file, ' ').then(() => truncate(file, 2 ** 24 + 1))
  await expect(attempt(enlarge)).rejects.toThrow(/has more than 16777216 bytes\.$/)
})

it('refuses a changed byte, a link, a cut file, and an incomplete export', async () => {
  const attempt = (place: string) => importOrganization(operator, place, { name: 'Damaged' })
  const longer = await tamperWith(folder, {})
  await appendFile(path.join(longer, 'tables', 'tags.jsonl'), ' ')
  await expect(attempt(longer)).rejects.toThrow(/tags\.jsonl does not match the manifest\.$/)

  const linked = await tamperWith(folder, {})
  await rename(path.join(linked, 'tables', 'tags.jsonl'), path.join(linked, 'elsewhere'))
  await symlink(path.join(linked, 'elsewhere'), path.join(linked, 'tables', 'tags.jsonl'))
  await expect(attempt(linked)).rejects.toThrow(/tags\.jsonl is a link, or can't be opened\.$/)

  const cut = await tamperWith(folder, {})
  await truncate(path.join(cut, 'media', own.picture.id), 3)
  await expect(attempt(cut)).rejects.toThrow(/does not match the manifest\.$/)

  const incomplete = await tamperWith(folder, {})
  await rename(path.join(incomplete, 'manifest.json'), path.join(incomplete, 'manifest.json.draft'))
  await expect(attempt(incomplete)).rejects.toThrow(
    /^The export is incomplete: manifest\.json is missing\. Run org export again\.$/,
  )
})

it("refuses an import under another organization's name", async () => {
  await expect(importOrganization(operator, folder)).rejects.toThrow(
    /There is already an organization named .*\. To import it under another name: --name$/,
  )
})

it('exports nothing into a folder with other files', async () => {
  await expect(exportOrganization(ctx, folder, { movedTo: null })).rejects.toThrow(/already has a complete export\.$/)
  const others = await mkdtemp(path.join(tmpdir(), 'others-'))
  await appendFile(path.join(others, 'letter.txt'), 'Dear')
  await expect(exportOrganization(ctx, others, { movedTo: null })).rejects.toThrow(/is not empty: it has letter\.txt\.$/)
})
