import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { loadDemo } from '../../src/demo/load-demo.ts'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../src/domain/context.ts'
import { continueErasure } from '../../src/domain/erasure/continue-erasure.ts'
import { resumeOrganization } from '../../src/domain/erasure/moves.ts'
import { requestErasure } from '../../src/domain/erasure/request-erasure.ts'
import { fileOf, newMediaKey } from '../../src/domain/files/media-keys.ts'
import { exportOrganization } from '../../src/transfer/export-organization.ts'
import { importOrganization } from '../../src/transfer/import-organization.ts'
import { type Service, startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { readTables } from './read-tables.ts'

const work = await mkdtemp(path.join(tmpdir(), 'transfer-'))
const ERASURE_LOG = path.join(work, 'erasures.jsonl')
const PUBLIC_URL = 'https://assessments.example.com'
const [source, target] = [await startServiceForFile({ ERASURE_LOG, PUBLIC_URL }), await startServiceForFile({ PUBLIC_URL })]
// Without the sweep, which would change rows between two exports.
for (const { db } of [source, target]) await db.$executeRaw`DELETE FROM pgboss.schedule`

const operatorOf = ({ system }: Service): ServiceContext => ({ ...system, actor: { kind: 'operator' } })
const contextIn = (service: Service, organization: { id: string; name: string }): Context =>
  enterOrganization(operatorOf(service), { ...organization, tier: 'standard' as const })

async function erase(ctx: Context, address: string): Promise<void> {
  const { id: erasureId } = await requestErasure(ctx, { address })
  await continueErasure(ctx, { organizationId: ctx.organization.id, erasureId })
}

// The source is the demo's organization, with an erased candidate and test data.
const demo = (await loadDemo(source.system))!
const ctx = contextIn(source, demo.organization)
const assessment = await source.db.assessment.findUniqueOrThrow({ where: { id: demo.assessmentId } })
await source.make.invite(assessment, { mode: 'test', recipientEmail: 'test@example.com' })
const completed = await source.db.invite.findMany({
  where: { organizationId: ctx.organization.id, status: 'completed' },
  take: 2,
})
await erase(ctx, completed[0]!.recipientEmail)
/** Adds a recording with a transcript. Null content means that its file was erased. */
async function addRecording(content: Buffer | null): Promise<string> {
  const { id: submissionId, organizationId } = await source.db.submission.findFirstOrThrow({
    where: { organizationId: ctx.organization.id, state: 'released', inviteId: { notIn: completed.map(({ id }) => id) } },
  })
  const [id, key, createdAt] = [source.deps.newId(), newMediaKey({ id: organizationId }), source.clock.now()]
  const facts = { kind: 'answer', state: 'ready', contentType: 'video/webm', bytes: 9n } as const
  await source.db.mediaFile.create({ data: { id, organizationId, submissionId, key, createdAt, ...facts } })
  await source.db.transcript.create({ data: { mediaId: id, organizationId, state: 'ready', text: 'Hello', createdAt } })
  if (content) await source.deps.media.put(fileOf(key), content)
  return id
}
const recordingId = await addRecording(Buffer.from('recording'))
const isMailed = async () => ((await source.db.inviteEmail.count({ where: { state: 'queued' } })) === 0 ? true : undefined)
await waitUntil('the demo to be mailed', isMailed)
const folder = path.join(work, 'export')
const manifest = await exportOrganization(ctx, folder, { movedTo: null })

/** Reads lists, invites, and submissions from both interfaces. */
async function readBoth(service: Service, key: string, ids: string[]): Promise<[url: string, status: number, body: unknown][]> {
  const urls = [
    ...['/invites?limit=100', '/assessments', '/tags', '/users'].map((url) => ['v1', url] as const),
    ...['/assessment_invites', '/assessments', '/tags'].map((url) => ['alternate', url] as const),
    ...ids.flatMap((id) => [['v1', `/invites/${id}`] as const, ['v1', `/invites/${id}/submission`] as const]),
    ...ids.flatMap((id) => ['', '?depth=1'].map((query) => ['alternate', `/assessment_invites/${id}${query}`] as const)),
  ]
  const answers: [string, number, unknown][] = []
  for (const [name, url] of urls) {
    const { status, body } = await service[name](key).get(url)
    answers.push([url, status, JSON.parse(JSON.stringify(body).replaceAll(/127\.0\.0\.1:\d+/g, 'host'))])
  }
  return answers
}

it('imports everything into an empty installation, which exports and answers the same', async () => {
  const report = await importOrganization(operatorOf(target), folder)
  expect(report).toMatchObject({ organization: demo.organization, hasNewIds: false, repeated: null })
  expect(report.counts).toMatchObject({ invites: manifest.tables.invites!.rows, grades: manifest.tables.grades!.rows })
  expect(report.itemsToRecreate).toEqual({ api_keys: ['Demo', 'Demo, test'] })
  const there = contextIn(target, report.organization)
  const again = path.join(work, 'again')
  await exportOrganization(there, again, { movedTo: null })
  const [before, after] = [await readTables(folder), await readTables(again)]
  expect(after).toEqual(before)
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining(['grades', 'releases', 'media_files', 'transcripts', 'erased_invites', 'events', 'audit_entries']),
  )

  const { key: mediaKey } = await target.db.mediaFile.findUniqueOrThrow({ where: { id: recordingId } })
  expect(await text((await target.deps.media.get(fileOf(mediaKey)))!)).toBe('recording')

  const { key } = await createApiKey(operatorOf(target), { organizationId: there.organization.id, name: 'New', mode: 'live' })
  expect((await target.v1(key).get('/invites')).status).toBe(401)
  await resumeOrganization(there)
  const invites = await source.db.invite.findMany({ where: { organizationId: there.organization.id, mode: 'live' }, take: 100 })
  const ids = invites.map(({ id }) => id)
  const [here, thither] = [await readBoth(source, demo.key, ids), await readBoth(target, key, ids)]
  expect(thither).toEqual(here)
  expect(here.filter(([, status]) => status === 200).length).toBeGreaterThan(150)
})

it('signs nobody in until they join by a mailed link, and rejects cursors of the other installation', async () => {
  const organizationId = ctx.organization.id
  expect(await target.db.credential.count()).toBe(0)
  expect(await target.db.apiKey.count({ where: { organizationId } })).toBe(1)
  const { key } = await createApiKey(operatorOf(target), { organizationId, name: 'Reader', mode: 'live' })
  const isNumbered = async () => ((await target.db.event.count({ where: { position: null } })) === 0 ? true : undefined)
  await waitUntil('the positions of imported events', isNumbered)
  const old = (await source.v1(demo.key).get('/events?limit=5')).body.cursor
  expect((await target.v1(key).get(`/events?cursor=${old}`)).headers['x-error-code']).toBe('cursor_gone')
  const all = await target.v1(key).get('/events?limit=5')
  expect(all.body.events.map(({ id }: { id: string }) => id)).toEqual(
    (await source.v1(demo.key).get('/events?limit=5')).body.events.map(({ id }: { id: string }) => id),
  )
})

it('imports a copy under another name with new ids everywhere, and erases candidates erased since the export', async () => {
  const lostId = await addRecording(null)
  const copied = path.join(work, 'to-copy')
  expect((await exportOrganization(ctx, copied, { movedTo: null })).media).toMatchObject({ erased: 1 })
  const { recipientEmail } = completed[1]!
  await erase(ctx, recipientEmail)
  const report = await importOrganization(operatorOf(source), copied, { name: 'A copy' })
  expect(report).toMatchObject({ organization: { name: 'A copy' }, hasNewIds: true, repeated: [{ found: true }] })
  const copy = { organizationId: report.organization.id }
  expect(await source.db.invite.count({ where: { ...copy, recipientEmail } })).toBe(0)
  const idLines = await readFile(path.join(copied, `ids-${copy.organizationId}.jsonl`), 'utf8')
  const ids = idLines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { exported: string; imported: string })
  const exported = new Set(ids.map((line) => line.exported))
  const lost = ids.find((line) => line.exported === lostId)!.imported
  expect(await source.db.mediaFile.findUniqueOrThrow({ where: { id: lost } })).toMatchObject({ state: 'deleted' })
  expect(await source.db.transcript.count({ where: { mediaId: lost } })).toBe(0)
  const again = path.join(work, 'copy')
  await exportOrganization(contextIn(source, report.organization), again, { movedTo: null })
  const rows = Object.entries(await readTables(again)).filter(
    ([table]) => !['languages', 'erasures', 'audit_entries'].includes(table),
  )
  const known = rows.flatMap(([table, lines]) =>
    lines.flatMap((line) => (line.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []).map((id) => [table, id] as const)),
  )
  expect(known.filter(([, id]) => exported.has(id))).toEqual([])
  expect(known.length).toBeGreaterThan(500)
})
