import { buffer } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startQueue } from '../../src/jobs/queue.ts'
import { startTranscriptionWorkers } from '../../src/jobs/transcription-workers.ts'
import { extractSoundInProcess } from '../../src/media/extract-sound-in-process.ts'
import { readSlices } from '../media/recordings.ts'
import { consent } from '../support/candidate.ts'
import { makeRecorded } from '../support/grading.ts'
import { signInAs } from '../support/portal.ts'
import { answerWith, type Behavior, hang } from '../support/receiver.ts'
import { runSweep } from '../support/run-sweep.ts'
import { type Service, startServiceForFile } from '../support/service.ts'
import { makeAccepted } from '../support/taking.ts'
import { HEARD, startTranscriber, verbose } from '../support/transcriber.ts'
import { waitUntil } from '../support/wait-until.ts'

const server = await startTranscriber()
const service = await startServiceForFile({
  TRANSCRIBE_URL: server.url,
  TRANSCRIBE_KEY: 'key-of-the-server',
  TRANSCRIBE_MODEL: 'whisper-test',
  TRANSCRIBE_FIELDS: 'vad_filter=true',
})
// The tests run the sweep themselves.
await service.db.$executeRaw`DELETE FROM pgboss.schedule WHERE name = 'sweep.queue_transcripts'`
const recordings = { audio: await readSlices('audio'), video: [...(await readSlices('video-0'))] }
const withAgreement = { transcriptionHost: server.host }

const transcriptsOf = (submissionId: string) =>
  service.db.transcript.findMany({ where: { media: { submissionId } }, include: { media: { include: { attempts: true } } } })
/** State and text or problem of each transcript, by question. */
const outcomesOf = async (submissionId: string) =>
  Object.fromEntries(
    (await transcriptsOf(submissionId)).map(({ media, state, problem, text }) => [
      media.attempts[0]!.questionNumber,
      [state, problem ?? text],
    ]),
  )
const waitForAll = (submissionId: string, ended = ['ready', 'failed']) =>
  waitUntil('the transcripts', async () => {
    await bringRetriesForward()
    const found = await transcriptsOf(submissionId)
    return found.length > 0 && found.every(({ state }) => ended.includes(state)) ? found : undefined
  })
/** Makes all retries due now. */
const bringRetriesForward = () =>
  service.db.$executeRaw`UPDATE pgboss.job SET start_after = now() WHERE name = 'transcript' AND state = 'retry'`
const submit = async (behavior: Behavior, data = {}) => {
  server.behave(behavior)
  server.received.length = 0
  const made = await makeRecorded(service, recordings, { ...withAgreement, ...data })
  await runSweep(service, ['queue_transcripts'])
  return made
}
const WORDS = 'First I listen.\nZanzibar <perhaps>.'

it('sends the sound of each answer with the expected language, and stores the words with their times', async () => {
  server.behave(HEARD)
  const made = await makeRecorded(service, recordings, withAgreement)
  expect((await transcriptsOf(made.submissionId)).map(({ state }) => state)).toEqual(['waiting', 'waiting'])
  await service.db.submissionQuestion.updateMany({
    where: { submissionId: made.submissionId, number: 2 },
    data: { targetLanguage: 'pt-BR' },
  })
  await runSweep(service, ['queue_transcripts'])
  const found = await waitForAll(made.submissionId)
  const requests = await server.requests()
  expect(requests.map(({ fields, authorization }): Asked => ({ ...fields, authorization })).sort(byLanguage)).toEqual([
    { ...ASKED, authorization: 'Bearer key-of-the-server' },
    { ...ASKED, language: 'pt', authorization: 'Bearer key-of-the-server' },
  ])
  const types = requests.map(({ file }) => [file.name, file.type.split(';')[0]])
  expect(types).toEqual([
    ['answer.webm', 'audio/webm'],
    ['answer.webm', 'audio/webm'],
  ])
  const video = found.find(({ media }) => media.contentType.startsWith('video/'))!
  expect(Math.min(...requests.map(({ file }) => file.size))).toBeLessThan(Number(video.media.bytes) / 2)
  expect(found.map(({ language }) => language).sort()).toEqual(['en', 'pt'])
  for (const transcript of found)
    expect(transcript).toMatchObject({
      state: 'ready',
      model: 'whisper-test',
      text: WORDS,
      segments: [
        [200, 1_000, 'First I listen.', 0],
        [1_000, 2_500, 'Zanzibar <perhaps>.', 1],
      ],
    })
})
const ASKED = { model: 'whisper-test', response_format: 'verbose_json', temperature: '0', vad_filter: 'true' }
type Asked = { language?: string; authorization: string | undefined }
const byLanguage = (one: Asked, other: Asked) => (one.language ?? '').localeCompare(other.language ?? '')

describe('sends nothing', () => {
  it('without the agreement of an admin', async () => {
    const { submissionId, submission } = await submit(HEARD, { transcriptionHost: undefined })
    expect((await submission()).consentMedia).toEqual(['camera', 'microphone'])
    expect([await transcriptsOf(submissionId), server.received]).toEqual([[], []])
  })

  it('of a candidate who consented before the agreement', async () => {
    const before = await makeRecorded(service, recordings)
    const admin = await signInAs(service, before.organization.id, ['admin'])
    await admin.post(`${admin.home}settings/transcripts`, { host: server.host })
    server.received.length = 0
    await runSweep(service, ['queue_transcripts'])
    expect([await transcriptsOf(before.submissionId), server.received]).toEqual([[], []])
  })

  it('after the agreement was withdrawn', async () => {
    const made = await makeRecorded(service, recordings, withAgreement)
    const admin = await signInAs(service, made.organization.id, ['admin'])
    expect((await admin.post(`${admin.home}settings/transcripts`, { off: 'yes' })).status).toBe(303)
    server.received.length = 0
    await runSweep(service, ['queue_transcripts'])
    expect([await transcriptsOf(made.submissionId), server.received]).toEqual([[], []])
  })

  it('to another host than the admin agreed to', async () => {
    const { submissionId } = await submit(HEARD, { transcriptionHost: 'elsewhere.example.com' })
    expect([await transcriptsOf(submissionId), server.received]).toEqual([[], []])
  })

  it('before the candidate submits', async () => {
    const made = await submit(HEARD)
    await waitForAll(made.submissionId)
    await service.db.submission.update({ where: { id: made.submissionId }, data: { state: 'in_progress' } })
    await service.db.transcript.updateMany({ where: { media: { submissionId: made.submissionId } }, data: { state: 'waiting' } })
    server.received.length = 0
    await runSweep(service, ['queue_transcripts'])
    expect(server.received).toEqual([])
    expect((await transcriptsOf(made.submissionId)).map(({ state }) => state)).toEqual(['waiting', 'waiting'])
    await service.db.transcript.deleteMany({ where: { media: { submissionId: made.submissionId } } })
  })
})

it('generates the transcripts of simulated candidates, and sends none of their recordings', async () => {
  const organization = await service.make.organization({ mode: 'test' })
  await service.db.organization.update({ where: { id: organization.id }, data: withAgreement })
  const assessment = await service.make.assessment(organization.id)
  for (const [i, responseType] of ['audio', 'video', 'text'].entries())
    await service.make.question(assessment, { order: i + 1, responseType, points: 5 })
  const v1 = service.v1(organization.key)
  const created = await v1.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'kim@example.com' })
  server.received.length = 0
  const simulated = await v1.post(`/invites/${created.body.invite.id}/simulate`).send({ action: 'complete' })
  expect([simulated.status, simulated.body.error]).toEqual([200, undefined])
  const { id, consentMedia } = await service.db.submission.findFirstOrThrow({ where: { organizationId: organization.id } })
  expect(consentMedia).toContain('transcription')
  const isJoined = async () =>
    (await service.db.mediaFile.count({ where: { submissionId: id, kind: 'answer', state: 'ready' } })) === 2 || undefined
  await waitUntil('the recordings', isJoined)
  await runSweep(service, ['queue_transcripts'])
  expect(await outcomesOf(id)).toEqual({
    1: ['ready', 'A generated answer to question 1.'],
    2: ['ready', 'A generated answer to question 2.'],
  })
  expect((await transcriptsOf(id)).map(({ model }) => model)).toEqual(['simulated', 'simulated'])
  expect([server.received, await countJobs(service)]).toEqual([[], 0])
})

it('sends no recording without sound, and drops segments in a silence', async () => {
  server.behave(verbose({ start: 0.2, end: 2, text: 'Thank you for watching' }, { start: 2.8, end: 3.5, text: 'Heard' }))
  server.received.length = 0
  const { submissionId } = await makeRecorded(service, recordings, withAgreement)
  const media = await waitUntil('the levels', async () => {
    const found = await service.db.mediaFile.findMany({ where: { submissionId } })
    return found.every(({ levels }) => levels !== null) ? found : undefined
  })
  for (const { id, contentType } of media) {
    const levels = new Uint8Array(40)
    if (contentType.startsWith('video/')) levels.fill(200, 27)
    await service.db.mediaFile.update({ where: { id }, data: { levels } })
  }
  await runSweep(service, ['queue_transcripts'])
  await waitForAll(submissionId, ['ready', 'silent'])
  expect(await outcomesOf(submissionId)).toEqual({ 1: ['silent', ''], 2: ['ready', 'Heard'] })
  expect(server.received).toHaveLength(1)
})

it.each<[string, Behavior, string, string, number]>([
  ['refuses its size', answerWith(413), 'failed', 'too_large', 2],
  ['refuses the file', answerWith(400), 'failed', 'refused', 4],
  ['fails each time', answerWith(500), 'failed', 'no_answer', 10],
  ['answers with a page', answerWith(200, {}, '<html>'), 'failed', 'unreadable', 6],
  ['hears nothing', verbose(), 'ready', '', 2],
])('ends a recording when the server %s', async (_, behavior, state, outcome, requests) => {
  const { submissionId } = await submit(behavior)
  await waitForAll(submissionId)
  expect(await outcomesOf(submissionId)).toEqual({ 1: [state, outcome], 2: [state, outcome] })
  expect(server.received).toHaveLength(requests)
})

it.each([401, 429, 503])('keeps all recordings while the server answers %i', async (status) => {
  const { submissionId } = await submit(answerWith(status, { 'retry-after': '0' }))
  await waitUntil('several tries', () => server.received.length > 3 || undefined)
  expect((await transcriptsOf(submissionId)).map(({ state, faults }) => [state, faults])).toEqual([
    ['queued', 0],
    ['queued', 0],
  ])
  server.behave(HEARD)
  await waitForAll(submissionId)
  expect(await outcomesOf(submissionId)).toEqual({ 1: ['ready', WORDS], 2: ['ready', WORDS] })
})

it('sends each of many recordings once after an outage of an hour', async () => {
  const waiting = 100
  let accepted = 0
  const counting: Behavior = (response, message, request) => {
    accepted++
    HEARD(response, message, request)
  }
  const made = await submit(answerWith(503))
  const audio = (await transcriptsOf(made.submissionId)).find(({ media }) => media.contentType.startsWith('audio/'))
  const { attempts: _, ...media } = audio!.media
  for (let i = 0; i < waiting - 2; i++) {
    const id = service.deps.newId()
    await service.deps.media.put(`${made.organization.id}/${id}/file`, await readAll(service, media.key))
    await service.db.mediaFile.create({ data: { ...media, id, key: `${made.organization.id}/${id}` } })
    const now = service.clock.now()
    const data = { organizationId: media.organizationId, mediaId: id, createdAt: now }
    await service.db.transcript.create({ data: { ...data, state: 'queued' } })
    await service.deps.queue.enqueueTranscript(service.db, { ...data, dueAt: now })
  }
  await waitUntil('several tries', () => server.received.length > 2 || undefined)
  service.clock.advance(3_600_000)
  expect(server.received.length).toBeLessThan(20)
  server.behave(counting)
  await waitForAll(made.submissionId)
  await waitUntil('an empty queue', async () => (await countJobs(service)) === 0 || undefined)
  const found = await transcriptsOf(made.submissionId)
  expect([found.length, found.filter(({ state }) => state === 'ready').length, accepted]).toEqual([waiting, waiting, waiting])
})

it('gives up waiting for an answer that never comes, and tries again', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms >= 60_000 ? 200 : ms))
  onTestFinished(() => spy.mockRestore())
  const { submissionId } = await submit(hang)
  await waitUntil('a fault', async () => (await transcriptsOf(submissionId)).some(({ faults }) => faults > 0) || undefined)
  server.behave(HEARD)
  await waitForAll(submissionId)
  expect(await outcomesOf(submissionId)).toEqual({ 1: ['ready', WORDS], 2: ['ready', WORDS] })
})

it('stores no words of a recording that is deleted during its recognition', async () => {
  const answers: (() => void)[] = []
  const late: Behavior = (response, message, request) => void answers.push(() => HEARD(response, message, request))
  const { submissionId, invite, organization } = await submit(late)
  await waitUntil('the first request', () => answers.length > 0 || undefined)
  const admin = await signInAs(service, organization.id, ['admin'])
  await admin.post(`${admin.home}invites/${invite.id}/submission/delete`, { media: 'answers' })
  for (const answer of answers) answer()
  server.behave(HEARD)
  await waitUntil('an empty queue', async () => (await countJobs(service)) === 0 || undefined)
  expect(await transcriptsOf(submissionId)).toEqual([])
  expect(server.received).toHaveLength(1)
})

const readAll = async ({ deps }: Service, key: string) => buffer((await deps.media.get(`${key}/file`))!)

const countJobs = async ({ db }: Service): Promise<number> => {
  const [row] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pgboss.job WHERE name = 'transcript' AND state < 'completed'`
  return row!.count
}

it('tells candidates before their consent what is sent', async () => {
  const of = { questions: [{ responseType: 'audio' }], waivedChecks: ['microphone'] }
  const [silent, told] = [await makeAccepted(service, of), await makeAccepted(service, { ...of, ...withAgreement })]
  expect((await silent.candidate.open()).text).not.toContain('speech recognition')
  expect((await told.candidate.open()).text).toContain('the recordings are sent to a service for speech recognition')
  await consent(told.candidate)
  expect(await told.submission()).toMatchObject({ consentVersion: 3, consentMedia: ['microphone', 'transcription'] })
  // The terms changed since the page was shown, so the page asks again.
  const changed = await makeAccepted(service, { ...of, ...withAgreement })
  await changed.candidate.press('consent', { version: '3', media: 'microphone', language: 'en' })
  expect(await service.db.submission.count({ where: { inviteId: changed.invite.id } })).toBe(0)
})

it('sends the recordings of a killed process again, and no others', async () => {
  const made = await submit(hang)
  await waitUntil('a request', () => server.received.length > 0 || undefined)
  // The first worker's requests hang. Resetting its jobs below has the same effect as the death of its process.
  const boss = await startQueue(service.databaseUrl, pino({ level: 'silent' }), { works: true })
  onTestFinished(() => boss.stop({ graceful: false }))
  server.behave(HEARD)
  await service.db.$executeRaw`
    UPDATE pgboss.job SET state = 'retry', start_after = now(), heartbeat_on = NULL WHERE name = 'transcript' AND state = 'active'`
  await startTranscriptionWorkers(boss, service.system, extractSoundInProcess, 1)
  await waitForAll(made.submissionId)
  expect(server.received).toHaveLength(3)
  server.closeConnections()
})
