import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { play } from '../support/play.ts'
import { startServiceForFile } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { takeAssessment, webmPart } from '../support/submissions.ts'
import { waitUntil } from '../support/wait-until.ts'
import { RECORDED, readSlices } from './recordings.ts'

const service = await startServiceForFile()

/** Uploads segments with missing parts (null), and completes the recording as incomplete. @returns the joined or failed recording. */
async function recordWithGaps(segments: (Buffer | null)[][]) {
  const candidate = await takeAssessment(service)
  const mediaId = await candidate.beginAttempt()
  for (const [segment, parts] of segments.entries())
    for (const [number, part] of parts.entries())
      if (part) expect((await candidate.putPart(mediaId, segment, number, part)).status).toBe(204)
  const partCounts = { segments: segments.map((parts) => parts.length) }
  const asked = await candidate.post(`media/${mediaId}/complete`, partCounts)
  expect([asked.status, asked.body.code]).toEqual([409, 'parts_missing'])
  expect((await candidate.post(`media/${mediaId}/complete`, { ...partCounts, incomplete: true })).status).toBe(202)
  const media = await waitUntil('the recording to be joined', async () => {
    const found = await candidate.media(mediaId)
    return found.state === 'joining' || (found.state === 'ready' && found.parts.length > 0) ? undefined : found
  })
  const content = await service.deps.media.get(`${media.key}/file`)
  return { media, seconds: content && (await play(await buffer(content))).duration }
}

const slicesOf = async () => ({ first: await readSlices('video-0'), second: await readSlices('video-1') })

describe('a recording with missing parts', () => {
  it('is cut at the first missing part, and continues with the next segment', async () => {
    const { first, second } = await slicesOf()
    const { media, seconds } = await recordWithGaps([first.map((slice, place) => (place === 2 ? null : slice)), second])
    expect(media).toMatchObject({ state: 'ready', attempts: [{ state: 'complete' }] })
    expect(Math.abs(seconds! - 2 - RECORDED['video-1'])).toBeLessThan(0.5)
    expect(media.cuts).toHaveLength(1)
    expect(Math.abs(media.cuts[0]! - 2_000)).toBeLessThan(500)
  })

  it('starts with the first segment whose beginning exists', async () => {
    const { first, second } = await slicesOf()
    const { media, seconds } = await recordWithGaps([[null, ...first.slice(1)], second])
    expect(Math.abs(seconds! - RECORDED['video-1'])).toBeLessThan(0.5)
    expect([media.state, media.cuts]).toEqual(['ready', [0]])
  })

  it('has a cut at its end if the browser reported more parts', async () => {
    const { first } = await slicesOf()
    const { media, seconds } = await recordWithGaps([[...first.slice(0, 2), null, null]])
    expect(Math.abs(seconds! - 2)).toBeLessThan(0.5)
    expect(media.cuts).toEqual([Math.round(seconds! * 1_000)])
  })

  it('can be cut in the middle of a frame, and omits an unreadable segment', async () => {
    const { first, second } = await slicesOf()
    const whole = Buffer.concat(first)
    const half = whole.subarray(0, Math.floor(whole.length / 2) + 11)
    const { media, seconds } = await recordWithGaps([[webmPart()], [half, null], second])
    const [begin, cut, ...more] = media.cuts
    expect([media.state, begin, more]).toEqual(['ready', 0, []])
    expect(cut).toBeGreaterThan(500)
    expect(Math.abs(seconds! - cut! / 1_000 - RECORDED['video-1'])).toBeLessThan(0.5)
  })

  itSlow('fails if nothing of it can be read, and keeps its parts', async () => {
    const { first } = await slicesOf()
    const { media } = await recordWithGaps([[null, ...first.slice(1)]])
    expect([media.state, media.parts.length]).toEqual(['failed', first.length - 1])
  })
})

it("can't be completed without any part", async () => {
  const candidate = await takeAssessment(service)
  const mediaId = await candidate.beginAttempt()
  const answer = await candidate.post(`media/${mediaId}/complete`, { segments: [2], incomplete: true })
  expect([answer.status, answer.body.code]).toEqual([409, 'parts_missing'])
  expect((await candidate.media(mediaId)).state).toBe('uploading')
})
