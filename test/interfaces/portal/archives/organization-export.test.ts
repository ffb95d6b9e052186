import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { buildArchive } from '../../../../src/domain/archives/build-archive.ts'
import { MAX_EXPORT_BYTES } from '../../../../src/domain/archives/request-archive.ts'
import { deleteExpiredRows } from '../../../../src/domain/concurrency/expired-rows.ts'
import { continueErasure } from '../../../../src/domain/erasure/continue-erasure.ts'
import { requestErasure } from '../../../../src/domain/erasure/request-erasure.ts'
import { suspendOrganization } from '../../../../src/domain/erasure/suspension.ts'
import { newMediaKey } from '../../../../src/domain/files/media-keys.ts'
import { importOrganization } from '../../../../src/transfer/import-organization.ts'
import { unzip } from '../../../support/archives.ts'
import { asEraser, listStore } from '../../../support/erasing.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
const { db, deps } = service
const ADDRESS = 'leaver@example.com'
const DAY_MS = 86_400_000

type Visitor = Awaited<ReturnType<typeof signInAs>>

/** Creates an organization with the transcript of a recording whose file is deleted. */
async function start({ canViewTranscription = false } = {}) {
  const organization = await service.make.organization()
  const { id: organizationId } = organization
  const assessment = await service.make.assessment(organizationId)
  const invite = await service.make.invite(assessment, { recipientEmail: ADDRESS, status: 'completed', completedAt: new Date() })
  const createdAt = deps.clock()
  const of = { organizationId, assessmentId: assessment.id, inviteId: invite.id, createdAt, updatedAt: createdAt }
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  const submission = await db.submission.create({ data: { id: deps.newId(), ...of, ...limits, state: 'submitted' } })
  const medium = { id: deps.newId(), organizationId, submissionId: submission.id, key: newMediaKey(organization), createdAt }
  await db.mediaFile.create({ data: { ...medium, kind: 'answer', state: 'ready', contentType: 'video/webm', bytes: 1n } })
  await db.transcript.create({ data: { mediaId: medium.id, organizationId, state: 'ready', text: 'Spoken words', createdAt } })
  const owner = await signInAs(service, organizationId, ['admin'], ['owner'])
  await db.member.update({ where: { id: owner.member.id }, data: { canViewTranscription } })
  await db.organization.update({ where: { id: organizationId }, data: { ownerNamedAt: createdAt } })
  return { organization, owner, page: `${owner.home}settings/export` }
}

/** Sends the page's form with its `once` value. */
async function order(visitor: Visitor, page: string) {
  const { text } = await visitor.get(page)
  return visitor.post(page, { once: /name="once" value="([^"]+)"/.exec(text)![1]! })
}

async function orderExport(visitor: Visitor, page: string): Promise<string> {
  const { status, headers } = await order(visitor, page)
  expect([status, headers.location]).toEqual([303, expect.stringContaining('/archives/')])
  return headers.location!
}

const waitForDownload = (visitor: Visitor, location: string) =>
  waitUntil('the export', async () => ((await visitor.get(location)).text.includes('>Download<') ? true : undefined))

const actionsOf = async (organizationId: string) =>
  (await db.auditEntry.findMany({ where: { organizationId, targetKind: 'archive' }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  )

const findArchive = (organizationId: string) => db.archive.findFirstOrThrow({ where: { organizationId } })

it('is ordered by an owner, downloaded once, and imported by another installation', async () => {
  const { organization, owner, page } = await start()
  expect((await owner.get(`${owner.home}settings`)).text).toContain(page)
  const location = await orderExport(owner, page)
  await waitForDownload(owner, location)
  expect((await owner.get(`${owner.home}archives`)).text).toContain('The organization')
  const other = await signInAs(service, organization.id, ['admin'], ['owner'])
  expect((await other.post(`${location}/file`)).headers.location).toBe(location)

  const download = await owner.post(`${location}/file`).responseType('blob')
  expect([download.status, download.headers['content-type']]).toEqual([200, 'application/zip'])
  expect(download.headers['content-disposition']).toMatch(/^attachment; filename="organization-[\d-]+\.zip"$/)
  const isRecorded = async () => ((await actionsOf(organization.id)).length === 2 ? true : undefined)
  await waitUntil('the download to be recorded', isRecorded)
  expect(await actionsOf(organization.id)).toEqual(['asked_for_organization_export', 'fetched_organization_export'])
  expect((await owner.post(`${location}/file`)).headers.location).toBe(location)
  expect((await owner.get(location)).text).toContain('was downloaded and has been deleted')
  expect((await owner.get(`${owner.home}settings/audit-log`)).text).toContain('downloaded an export of the organization')

  const file = path.join(await mkdtemp(path.join(tmpdir(), 'ordered-')), 'organization.zip')
  await writeFile(file, download.body)
  const target = await startServiceForFile()
  const report = await importOrganization({ ...target.system, actor: { kind: 'operator' } }, file)
  expect(report).toMatchObject({ organization: { id: organization.id }, counts: { invites: 1 }, media: { files: 0, erased: 1 } })
})

it.each([
  [true, 'Included'],
  [false, 'Left out, because you may not read them'],
])('has transcripts only if the owner may read them: %s', async (canViewTranscription, words) => {
  const { owner, page } = await start({ canViewTranscription })
  expect((await owner.get(page)).text).toContain(`<dt>Transcripts</dt><dd>${words}</dd>`)
  const location = await orderExport(owner, page)
  await waitForDownload(owner, location)
  const files = unzip((await owner.post(`${location}/file`).responseType('blob')).body)
  const { manifest } = JSON.parse(files['manifest.json']!.toString())
  expect(manifest.tables).toMatchObject({ media_files: { rows: 1 } })
  expect('transcripts' in manifest.tables).toBe(canViewTranscription)
  expect(files['tables/transcripts.jsonl']?.toString().includes('Spoken words')).toBe(canViewTranscription || undefined)
})

it('is for owners only, after recent authentication', async () => {
  const { organization, owner, page } = await start()
  const admin = await signInAs(service, organization.id, ['admin'])
  expect([(await admin.get(page)).status, (await admin.post(page)).status]).toEqual([404, 404])
  const location = await orderExport(owner, page)
  await waitForDownload(owner, location)
  expect([(await admin.get(location)).status, (await admin.post(`${location}/file`)).status]).toEqual([404, 404])
  await db.sessionAuthentication.updateMany({ data: { at: new Date(service.clock.now().getTime() - 3_600_000) } })
  for (const address of [page, `${location}/file`])
    expect((await owner.post(address)).headers.location).toMatch(/^\/portal\/prove/)
})

it('is built once at a time for an owner, and twice a day for an organization', async () => {
  const { organization, owner, page } = await start()
  const unfinished = await orderExport(owner, page)
  await waitForDownload(owner, unfinished)
  await db.archive.updateMany({ where: { organizationId: organization.id }, data: { finishedAt: null, key: null } })
  const [again, atOnce] = await Promise.all([orderExport(owner, page), orderExport(owner, page)])
  expect([again, atOnce]).toEqual([unfinished, unfinished])
  await db.archive.updateMany({ where: { organizationId: organization.id }, data: { finishedAt: deps.clock() } })
  await orderExport(owner, page)
  await waitUntil('the second export', async () =>
    (await db.archive.count({ where: { organizationId: organization.id, finishedAt: null } })) === 0 ? true : undefined,
  )
  const third = await order(owner, page)
  expect([third.status, third.text]).toEqual([422, expect.stringContaining('2 archives were created within the last 24 hours')])
})

it('names the command of the operator if the organization is too large', async () => {
  const { organization, owner, page } = await start()
  const { text } = await owner.get(page)
  await db.organizationMediaBytes.create({
    data: { organizationId: organization.id, slot: 1, bytes: BigInt(MAX_EXPORT_BYTES) + 1n },
  })
  const large = (await owner.get(page)).text
  expect(large).toContain(`npm run cli -- org export ${organization.id} organization.zip`)
  expect(large).not.toContain('Create export')
  const refused = await owner.post(page, { once: /name="once" value="([^"]+)"/.exec(text)![1]! })
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('more than 10 GB of photos and recordings')])
  expect(await db.archive.count({ where: { organizationId: organization.id } })).toBe(0)
})

it('is deleted with its file after seven days', async () => {
  const { organization, owner, page } = await start()
  const location = await orderExport(owner, page)
  await waitForDownload(owner, location)
  const { key, expiresAt, finishedAt } = await findArchive(organization.id)
  expect(expiresAt.getTime() - finishedAt!.getTime()).toBe(7 * DAY_MS)
  await deleteExpiredRows({ ...service.system, deps: { ...deps, clock: () => expiresAt } }, 'delete_expired_media')
  expect((await owner.get(location)).status).toBe(404)
  expect(await db.deletedMediaFile.count({ where: { key: key! } })).toBe(1)
})

it('is deleted when a candidate is erased, even while it is being built', async () => {
  const { organization, owner, page } = await start()
  await waitForDownload(owner, await orderExport(owner, page))
  const ctx = asEraser(service, organization)
  const still = { ...ctx, deps: { ...deps, queue: { ...deps.queue, enqueueErasure: async () => {} } } }
  const erase = async () => {
    const { id: erasureId } = await requestErasure(still, { address: ADDRESS })
    await continueErasure(service.system, { organizationId: organization.id, erasureId })
  }
  await erase()
  expect(await db.archive.count({ where: { organizationId: organization.id } })).toBe(0)
  const stored = async () => (await listStore(service)).filter((name) => name.startsWith(organization.id))
  expect(await stored()).toEqual([])

  const row = { actorKind: 'member', actorId: owner.member.id, createdAt: deps.clock(), expiresAt: deps.clock() }
  const archive = { organizationId: organization.id, id: deps.newId(), subject: 'organization', ...row }
  await db.archive.create({ data: archive })
  const writeArchive: typeof deps.writeArchive = async (...given) => {
    await deps.writeArchive(...given)
    await erase()
  }
  const meanwhile = { ...service.system, deps: { ...deps, writeArchive } }
  await buildArchive(meanwhile, { organizationId: organization.id, archiveId: archive.id })
  expect(await db.archive.count({ where: { organizationId: organization.id } })).toBe(0)
  expect(await stored()).toEqual([])
})

it('is open to the owners of a suspended organization', async () => {
  const { organization, owner, page } = await start()
  await suspendOrganization(asEraser(service, organization), { name: organization.name })
  const suspended = await owner.get(owner.home)
  expect([suspended.status, suspended.text]).toEqual([403, expect.stringContaining(page)])
  const location = await orderExport(owner, page)
  await waitForDownload(owner, location)
  const files = unzip((await owner.post(`${location}/file`).responseType('blob')).body)
  expect(Object.keys(files)).toContain('manifest.json')
})
