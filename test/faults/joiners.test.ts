import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileOf } from '../../src/domain/files/media-keys.ts'
import { readSlices } from '../media/recordings.ts'
import { startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { SECRET_KEY, startServiceForTest } from '../support/service.ts'
import { takeAssessment } from '../support/submissions.ts'
import { waitUntil } from '../support/wait-until.ts'

/** A killed process's job counts as lost after 10 s without a heartbeat, and its retry waits 10 to 40 s. The machine may be busy. */
const PATIENCE_MS = 600_000
const RECORDINGS = scaled(12, 60)

it(`joins each of ${RECORDINGS} recordings once, and loses no part, despite a kill of all four joiners midway`, async () => {
  const DATA_DIR = await mkdtemp(path.join(tmpdir(), 'assessments-joiners-'))
  onTestFinished(() => rm(DATA_DIR, { recursive: true, force: true }))
  const service = await startServiceForTest({ ROLE: 'api', DATA_DIR })
  const slices = await readSlices('video-0')
  for (let i = 0; i < RECORDINGS; i++) {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt('video')
    for (const [number, part] of slices.entries()) expect((await candidate.putPart(mediaId, 0, number, part)).status).toBe(204)
    expect((await candidate.post(`media/${mediaId}/complete`, { segments: [slices.length] })).status).toBe(202)
  }
  const { db, databaseUrl, deps } = service
  const env = { DATABASE_URL: databaseUrl, SECRET_KEY, DATA_DIR, ROLE: 'worker', JOINERS: '4' }
  const countReady = () => db.mediaFile.count({ where: { state: 'ready' } })

  const killed = await startProcess(env)
  await waitUntil('some recordings to be joined', async () => (await countReady()) >= 2 || undefined)
  killed.kill('SIGKILL')
  const before = await countReady()
  await startProcess(env)
  await waitUntil('all recordings to be joined', async () => (await countReady()) === RECORDINGS || undefined, PATIENCE_MS)

  // The second process also deletes the parts of files that were finished when the first one was killed.
  await waitUntil('parts to be deleted', async () => (await db.mediaFilePart.count()) === 0 || undefined, PATIENCE_MS)
  const joined = await db.mediaFile.findMany()
  const lengths = new Set(joined.map(({ milliseconds }) => milliseconds))
  for (const { key, bytes, cuts } of joined) expect([await deps.media.size(fileOf(key)), cuts]).toEqual([Number(bytes), []])
  expect(lengths.size).toBe(1)
  process.stdout.write(`${RECORDINGS} recordings, killed at ${before}, each joined once\n`)
})
