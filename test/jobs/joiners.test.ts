import { stat } from 'node:fs/promises'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import type { Remux } from '../../src/domain/submissions/media/join-recording.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { startRecordingWorkers } from '../../src/jobs/recording-workers.ts'
import { readSlices } from '../media/recordings.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { takeAssessment } from '../support/submissions.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Creates a recording that waits to be joined, in a new organization. @param bytes stored size, if it should differ from the real one. */
async function record(service: Service, content: Buffer[], bytes?: number): Promise<string> {
  const candidate = await takeAssessment(service)
  const mediaId = await candidate.beginAttempt('audio')
  for (const [number, part] of content.entries()) expect((await candidate.putPart(mediaId, 0, number, part)).status).toBe(204)
  if (bytes !== undefined) await service.db.mediaFile.update({ where: { id: mediaId }, data: { bytes } })
  expect((await candidate.post(`media/${mediaId}/complete`, { segments: [content.length] })).status).toBe(202)
  return mediaId
}

async function startJoiners(service: Service, remux: Remux, joiners: number): Promise<void> {
  const boss = await startQueue(service.databaseUrl, pino({ level: 'silent' }), { works: true })
  onTestFinished(() => boss.stop({ graceful: false }))
  await startRecordingWorkers(boss, service.system, { remux, measureLevels: async () => null, joiners })
}

itSlow('joins concurrent recordings shortest first, but older ones before those ten minutes later', async () => {
  const service = await startServiceForTest({ ROLE: 'api' })
  const [one, two, three] = (await readSlices('audio')) as [Buffer, Buffer, Buffer]
  // The recordings have different lengths, which identify them.
  const contents = [[one], [one, two], [one, two, three], [one, three]]
  const sizes = contents.map((slices) => Buffer.concat(slices).length)
  const [longest, long, short, later] = contents as [Buffer[], Buffer[], Buffer[], Buffer[]]
  await record(service, longest, 900_000_000)
  await record(service, long, 60_000_000)
  await record(service, short, 7_000_000)
  service.clock.advance(600_000)
  await record(service, later, 7_000_000)
  const order = new Set<number>() // a set, because each recording is retried
  const note: Remux = async ([segment]) => {
    order.add(sizes.indexOf((await stat(segment!)).size) + 1)
    throw new Error('Not now')
  }
  await startJoiners(service, note, 1)
  await waitUntil('each to be tried', async () => order.size === 4 || undefined)
  expect([...order]).toEqual([3, 2, 1, 4])
})

it('joins as many recordings at once as there are joiners', async () => {
  const service = await startServiceForTest({ ROLE: 'api' })
  const slices = await readSlices('audio')
  for (let i = 0; i < 6; i++) await record(service, slices)
  let underWay = 0
  const gate = Promise.withResolvers<void>()
  const hold: Remux = async () => {
    underWay++
    await gate.promise
    throw new Error('Not now')
  }
  onTestFinished(() => gate.resolve())
  await startJoiners(service, hold, 4)
  await waitUntil('four to be under way', async () => underWay >= 4 || undefined)
  const active = await service.db
    .$queryRaw`SELECT count(*)::int AS count FROM pgboss.job WHERE name = 'recording' AND state = 'active'`
  expect([underWay, active]).toEqual([4, [{ count: 4 }]])
})
