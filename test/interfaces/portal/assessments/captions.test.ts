import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { newMediaKey } from '../../../../src/domain/files/media-keys.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../../../support/candidate.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { openTab } from '../../../support/taking.ts'
import { startTranscriber, verbose } from '../../../support/transcriber.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const transcriber = await startTranscriber()
afterAll(transcriber.close)
const service = await startServiceForFile({ TRANSCRIBE_URL: transcriber.url, TRANSCRIBE_MODEL: 'whisper-test' })
const { db, make } = service

/** Creates a question that plays a stored sound, in an organization that has agreed to transcription. */
async function setUp({ isOn = true } = {}) {
  const organization = await make.organization()
  const transcriptionHost = isOn ? transcriber.host : null
  await db.organization.update({ where: { id: organization.id }, data: { transcriptionHost } })
  const [id, key, at] = [randomUUID(), newMediaKey(organization), service.clock.now()]
  const file = { kind: 'audio', state: 'ready', contentType: 'audio/webm', bytes: 3, milliseconds: 3_000 }
  await db.asset.create({ data: { organizationId: organization.id, id, key, ...file, createdAt: at, checkedAt: at } })
  await service.deps.media.put(`${key}/file`, Buffer.from('abc'))
  const assessment = await make.assessment(organization.id)
  await make.question(assessment, { inputType: 'audio', audioUrl: `/api/v1/question-media/${id}`, assetIds: [id] })
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}question-media/${id}/captions`
  const captions = () => db.caption.findFirst({ where: { assetId: id } })
  const request = (language = 'en') => admin.post(`${path}/request`, { language })
  const waitForCaptions = (state = 'ready') =>
    waitUntil('the captions', async () => {
      const found = await captions()
      return found?.state === state ? found : undefined
    })
  const save = async (fields: Record<string, string> = {}) =>
    admin.post(path, { seen: (await captions())!.createdAt.toISOString(), ...fields })
  return { organization, admin, assessment, id, path, captions, request, waitForCaptions, save }
}

/** Reads the caption lines that a candidate's browser gets with a play of the first question. */
async function readLines(assessment: { id: string; organizationId: string }): Promise<string[] | undefined> {
  const candidate = candidateOf(service, await make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS }))
  await consent(candidate)
  await candidate.press('start')
  await candidate.press('open', { number: '1' })
  const tab = await openTab(service, candidate)
  const asked = candidate.session('post', '/questions/1/plays', { tab, body: {} }).set('idempotency-key', randomUUID())
  const { status, body } = await asked
  expect(status).toBe(200)
  return body.captions?.lines.map(({ text }: { text: string }) => text)
}

it('sends a prompt only when its author requests it, and shows the captions only once the author has published them', async () => {
  const { assessment, id, path, admin, request, waitForCaptions, save } = await setUp()
  const sent = transcriber.received.length
  expect(await readLines(assessment)).toBeUndefined()
  const { id: questionId } = await db.question.findFirstOrThrow({ where: { assessmentId: assessment.id } })
  const question = await admin.get(`${admin.home}assessments/${assessment.id}/questions/${questionId}`)
  expect(question.text).toContain(`question-media/${id}/captions`)
  expect(transcriber.received).toHaveLength(sent)

  expect((await request('en')).headers.location).toBe(`${path}?done=requested`)
  await request('en') // a second click
  await waitForCaptions()
  const [{ fields } = { fields: {} }, ...more] = (await transcriber.requests()).slice(sent)
  expect([fields, more]).toEqual([expect.objectContaining({ language: 'en', model: 'whisper-test' }), []])
  expect((await admin.get(path)).text).toContain('Made by a machine')
  expect(await readLines(assessment)).toBeUndefined()

  await save({ 'segment-0': 'First you <b>listen</b>.', 'segment-1': '' })
  expect(await readLines(assessment)).toBeUndefined()
  expect(mistakesIn(await save({ 'segment-0': 'Late', isPublished: 'yes' }))).toHaveLength(1)
  const seen = (await waitForCaptions()).changedAt!.toISOString()
  expect((await save({ seen, isPublished: 'yes' })).headers.location).toBe(`${path}?done=saved`)
  await request('es') // from an outdated page
  expect(await readLines(assessment)).toEqual(['First you <b>listen</b>.'])
  expect((await admin.get(path)).text).toContain('First you &lt;b&gt;listen&lt;/b&gt;.')
  const audited = await db.auditEntry.findMany({
    where: { organizationId: assessment.organizationId, action: 'changed_captions' },
  })
  expect(audited.map(({ details }) => (details as { change: string }).change)).toEqual(['requested', 'saved', 'published'])
})

it('is copied with its question, and deleted by its author or with the file', async () => {
  const { organization, admin, assessment, id, path, request, waitForCaptions, save, captions } = await setUp()
  await request()
  await waitForCaptions()
  await save({ isPublished: 'yes' })
  const copied = await admin.post(`${admin.home}assessments/${assessment.id}/duplicate`, { once: randomUUID() })
  const copyId = /assessments\/([^?]*)/.exec(copied.headers.location!)![1]!
  expect(await readLines({ id: copyId, organizationId: organization.id })).toHaveLength(2)
  await admin.post(`${path}/delete`)
  expect([await captions(), await readLines(assessment)]).toEqual([null, undefined])
  await request()
  await waitForCaptions()
  await db.asset.deleteMany({ where: { id } })
  expect(await captions()).toBeNull()
})

it('requests no captions while transcripts are off, and drops waiting requests when they are switched off', async () => {
  const off = await setUp({ isOn: false })
  expect((await off.admin.get(off.path)).text).toContain('Transcripts are off.')
  expect(mistakesIn(await off.request())).toEqual(['Transcripts are off: an admin can switch them on in the settings.'])
  expect(await off.captions()).toBeNull()

  const on = await setUp()
  transcriber.behave((response) => void response.writeHead(429, { 'retry-after': '1' }).end())
  await on.request()
  await on.admin.post(`${on.admin.home}settings/transcripts`, { off: 'yes' })
  expect(await on.captions()).toBeNull()
})

it('shows that captions failed, and accepts another request', async () => {
  const { admin, path, request, waitForCaptions } = await setUp()
  transcriber.behave((response) => void response.writeHead(413).end())
  await request()
  await waitForCaptions('failed')
  expect((await admin.get(path)).text).toContain('No captions could be made.')
  transcriber.behave(verbose({ start: 0, end: 1, text: 'Now it works.' }))
  await request()
  await waitForCaptions()
  expect((await admin.get(path)).text).toContain('Now it works.')
})

it('keeps newer captions from an older request and an older page', async () => {
  const { path, admin, captions, request, waitForCaptions, save } = await setUp()
  let release = () => {}
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  let isSent = false
  transcriber.behave(async (...exchange) => {
    isSent = true
    await isReleased
    verbose({ start: 0, end: 1, text: 'Older' })(...exchange)
  })
  await request()
  await waitUntil('the older request', async () => isSent)
  const seen = (await captions())!.createdAt.toISOString()
  await admin.post(`${path}/delete`)
  service.clock.advance(1_000)
  transcriber.behave(verbose({ start: 0, end: 1, text: 'Newer' }))
  await request('es')
  release()
  await waitForCaptions()
  expect((await admin.get(path)).text).toContain('Newer')
  expect(mistakesIn(await save({ seen, 'segment-0': 'Older' }))).toHaveLength(1)
  expect((await admin.get(path)).text).toContain('Newer')
})

it('is limited to members of the organization who may edit assessments', async () => {
  const { organization, path, id } = await setUp()
  const grader = await signInAs(service, organization.id, ['grader'])
  const stranger = await signInAs(service, (await make.organization()).id, ['admin'])
  expect((await grader.get(path)).status).toBe(404)
  expect((await grader.post(`${path}/request`, { language: '' })).status).toBe(404)
  expect((await stranger.get(path)).status).toBe(404)
  expect((await stranger.get(`${stranger.home}question-media/${id}/captions`)).status).toBe(404)
  expect((await stranger.post(`${stranger.home}question-media/${id}/captions/request`, { language: '' })).status).toBe(404)
})
