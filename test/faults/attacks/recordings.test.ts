import { expect, it } from 'vitest'
import { endlessWebm, lacedWebm, repeatingMp4 } from '../../media/hostile.ts'
import { readSlices } from '../../media/recordings.ts'
import { startServiceForTest } from '../../support/service.ts'
import { takeAssessment } from '../../support/submissions.ts'
import { waitUntil } from '../../support/wait-until.ts'

type Candidate = Awaited<ReturnType<typeof takeAssessment>>

async function record(candidate: Candidate, parts: Buffer[]): Promise<string> {
  const mediaId = await candidate.beginAttempt('audio')
  for (const [number, part] of parts.entries()) expect((await candidate.putPart(mediaId, 0, number, part)).status).toBe(204)
  expect((await candidate.post(`media/${mediaId}/complete`, { segments: [parts.length] })).status).toBe(202)
  return mediaId
}

it("joins another organization's recording before most of an attacker's expensive recordings", async () => {
  const service = await startServiceForTest({ JOINERS: '1' })
  const hostile = await takeAssessment(service, { submission: { answerRecordLimit: 8 } })
  const endless = endlessWebm(await readSlices('audio'))
  const made = [repeatingMp4(760_000, 1_500), lacedWebm(772_000), endless, endless, endless, endless, endless]
  const attacks: string[] = []
  for (const content of made) attacks.push(await record(hostile, [content]))
  const quiet = await takeAssessment(service)
  const mediaId = await record(quiet, await readSlices('audio'))
  await waitUntil('the recording to be joined', async () => ((await quiet.media(mediaId)).state === 'ready' ? true : undefined))
  const left = await service.db.mediaFile.count({ where: { id: { in: attacks }, state: 'joining' } })
  expect(left).toBeGreaterThanOrEqual(made.length - 3) // the recording did not wait for these
})
