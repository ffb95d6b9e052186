import { expect, it } from 'vitest'
import { newMediaKey } from '../../src/domain/files/media-keys.ts'
import { queueTranscripts } from '../../src/domain/submissions/transcripts/queue-transcripts.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { INSPECTED, measureLiveHeap } from '../support/live-heap.ts'
import { startProcess } from '../support/processes.ts'
import { answerWith } from '../support/receiver.ts'
import { LONG, scaled } from '../support/scale.ts'
import { SECRET_KEY, type Service, startServiceForTest } from '../support/service.ts'
import { HEARD, startTranscriber } from '../support/transcriber.ts'
import { waitUntil } from '../support/wait-until.ts'

/** A killed process's job counts as lost after some seconds, and pauses between retries double. The machine may be busy. */
const PATIENCE_MS = 600_000
const RECORDINGS = scaled(60, 500)
const ORGANIZATIONS = 5
/** Maximum growth of the live heap over the last half, which is the goal of docs/performance.md for a service under load. */
const GROWTH = 1.05

/** Adds a submission with this many recorded answers that wait for transcription. Each file has different content. */
async function submitRecordings(service: Service, transcriptionHost: string, count: number, name: string): Promise<void> {
  const { db, deps, make } = service
  const organization = await make.organization()
  const organizationId = organization.id
  await db.organization.update({ where: { id: organizationId }, data: { transcriptionHost } })
  const assessment = await make.assessment(organizationId)
  const { id: inviteId } = await make.invite(assessment, { status: 'completed' })
  const [submissionId, at] = [deps.newId(), deps.clock()]
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  const times = { startedAt: at, submittedAt: at, createdAt: at, updatedAt: at }
  const own = { organizationId, submissionId }
  await db.submission.create({
    data: { id: submissionId, organizationId, inviteId, assessmentId: assessment.id, state: 'submitted', ...limits, ...times },
  })
  const asked = { inputType: 'text', responseType: 'audio', script: '', audioUrl: '', videoUrl: '', points: 1, timeLimit: 0 }
  const answers = Array.from({ length: count }, (_, i) => ({ number: i + 1, id: deps.newId(), key: newMediaKey(organization) }))
  await db.submissionQuestion.createMany({
    data: answers.map(({ number }) => ({ ...own, number, questionId: deps.newId(), ...asked })),
  })
  const file = { kind: 'answer', state: 'ready', contentType: 'audio/webm', bytes: 3, milliseconds: 3_000 } as const
  await db.mediaFile.createMany({ data: answers.map(({ id, key }) => ({ id, ...own, key, ...file, createdAt: at })) })
  const attempt = { kind: 'audio', state: 'complete', createdAt: at, completedAt: at } as const
  await db.answerAttempt.createMany({
    data: answers.map(({ id, number }) => ({ id: deps.newId(), ...own, questionNumber: number, mediaId: id, ...attempt })),
  })
  await db.transcript.createMany({
    data: answers.map(({ id }) => ({ organizationId, mediaId: id, state: 'waiting', createdAt: at })),
  })
  for (const { key, number } of answers) await deps.media.put(`${key}/file`, Buffer.from(`${name} ${number}`))
}

it(`sends each of ${RECORDINGS} recordings once after an hour without the transcriber, despite a kill`, async () => {
  const server = await startTranscriber()
  server.behave(answerWith(503))
  const DATA_DIR = await makeDataDir()
  const service = await startServiceForTest({
    ROLE: 'api',
    DATA_DIR,
    TRANSCRIBE_URL: server.url,
    TRANSCRIBE_MODEL: 'whisper-test',
  })
  const { db, databaseUrl } = service
  for (let i = 0; i < ORGANIZATIONS; i++)
    await submitRecordings(service, server.host, RECORDINGS / ORGANIZATIONS, `recording ${i}`)
  await queueTranscripts(service.system)
  expect(await db.transcript.count({ where: { state: 'queued' } })).toBe(RECORDINGS)

  const env = { DATABASE_URL: databaseUrl, SECRET_KEY, DATA_DIR, ROLE: 'worker' }
  const settings = { ...env, TRANSCRIBE_URL: server.url, TRANSCRIBE_MODEL: 'whisper-test' }
  const killed = await startProcess(settings)
  await waitUntil('several attempts', () => server.received.length >= 4 || undefined, PATIENCE_MS)
  killed.kill('SIGKILL')
  await killed.exited
  const next = await startProcess(settings, INSPECTED)
  await waitUntil('more attempts', () => server.received.length >= 8 || undefined, PATIENCE_MS)
  const triesWhileAway = server.received.length
  // Make all retries due, as after an hour.
  await db.$executeRaw`UPDATE pgboss.job SET start_after = now() WHERE name = 'transcript' AND state = 'retry'`
  const states = await db.transcript.groupBy({ by: ['state', 'faults'], _count: true })
  expect(states).toEqual([{ state: 'queued', faults: 0, _count: RECORDINGS }])

  server.behave(HEARD)
  const countReady = () => db.transcript.count({ where: { state: 'ready' } })
  const memory: number[] = []
  for (let tenth = 1; tenth <= 10; tenth++) {
    await waitUntil(`${tenth} tenths`, async () => (await countReady()) >= (RECORDINGS * tenth) / 10 || undefined, PATIENCE_MS)
    memory.push(await measureLiveHeap(next))
  }
  const jobs = () => db.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) FROM pgboss.job WHERE name = 'transcript' AND state NOT IN ('completed', 'cancelled')`
  await waitUntil('the queue to be empty', async () => Number((await jobs())[0]!.count) === 0 || undefined, PATIENCE_MS)

  const heard = (await server.requests()).slice(triesWhileAway)
  const contents = await Promise.all(heard.map(({ file }) => file.text()))
  expect(new Set(contents).size).toBe(RECORDINGS)
  expect(contents).toHaveLength(RECORDINGS)
  const figures = `${triesWhileAway} tries while away, live MB after each tenth: ${memory.map((used) => used.toFixed(1)).join(' ')}`
  process.stdout.write(`${RECORDINGS} recordings, ${figures}\n`)
  if (LONG) expect(memory[9]! / memory[4]!, figures).toBeLessThan(GROWTH)
})
