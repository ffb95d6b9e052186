import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newMediaKey } from '../../../src/domain/files/media-keys.ts'
import { startServiceForFile } from '../../support/service.ts'
import { MINUTE_MS, takeAssessment, webmPart } from '../../support/submissions.ts'

const service = await startServiceForFile({ ROLE: 'api' })

const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

const TIMING = { segment: 0, zero: 62.5, from: 0, elapsed: null, headphones: 'unheard' }

/** Opens a simultaneous question. The invite allows three recordings and three plays. */
async function takeSimultaneous(question = {}) {
  const asset = randomUUID()
  const prompt = { audioUrl: `/api/v1/question-media/${asset}`, simultaneous: true, ...question }
  const candidate = await takeAssessment(service, {
    responseType: 'audio',
    submission: { questionReplayLimit: 3, answerRecordLimit: 3 },
    question: prompt,
  })
  const { organization } = candidate
  const file = { contentType: 'audio/webm', bytes: 3, milliseconds: 1_000, state: 'ready', kind: 'audio' }
  const at = service.deps.clock()
  const key = newMediaKey(organization)
  await service.db.asset.create({
    data: { id: asset, organizationId: organization.id, key, ...file, createdAt: at, checkedAt: at },
  })
  await service.deps.media.put(`${key}/file`, Buffer.from('abc'))
  const post = (place: string, body: object = {}) => candidate.post(place, body).set('idempotency-key', randomUUID())
  const begin = async (): Promise<string> => (await post('questions/1/attempts', { kind: 'audio' })).body.mediaId
  const askForPlay = () => post('questions/1/plays')
  const play = async () => {
    const { body } = await askForPlay()
    return service.http().get(`${candidate.session}/plays/${body.link}/audio`)
  }
  const record = (mediaId: string, segment: number) => candidate.putPart(mediaId, segment, 0, webmPart())
  const shown = async () => (await service.http().get(candidate.session)).body.question
  return { ...candidate, post, begin, askForPlay, play, record, shown }
}

describe('a simultaneous question', () => {
  it('can be recorded only once, even if the invite allows more', async () => {
    const { begin, post, record, shown } = await takeSimultaneous()
    expect(await shown()).toMatchObject({ attemptsLeft: 1, mayStartOver: false })
    const mediaId = await begin()
    await record(mediaId, 0)
    expect(statusAndCode(await post('questions/1/attempts', { kind: 'audio', restart: true }))).toEqual([409, 'no_attempts_left'])
    await post(`media/${mediaId}/stop`, { ago: 0 })
    expect(statusAndCode(await post('questions/1/attempts', { kind: 'audio' }))).toEqual([409, 'no_attempts_left'])
    expect(await shown()).toMatchObject({ attemptsLeft: 0 })
  })

  it('plays only for a recording that has begun and recorded nothing yet', async () => {
    const { begin, askForPlay, play, record } = await takeSimultaneous()
    expect(statusAndCode(await askForPlay())).toEqual([409, 'no_plays_left'])
    const mediaId = await begin()
    expect((await play()).status).toBe(200)
    expect((await play()).status).toBe(200) // the page was reloaded before it recorded
    await record(mediaId, 0)
    expect(statusAndCode(await askForPlay())).toEqual([409, 'no_plays_left'])
  })

  it('plays once more for a recording that is continued, which is possible once', async () => {
    const { begin, play, askForPlay, post, record, shown } = await takeSimultaneous()
    const mediaId = await begin()
    await play()
    await record(mediaId, 0)
    expect((await shown()).interrupted).toMatchObject({ mediaId })
    expect((await post(`media/${mediaId}/continue`, { segment: 1 })).body).toEqual({ segment: 1 })
    expect((await play()).status).toBe(200)
    await record(mediaId, 1)
    expect(statusAndCode(await askForPlay())).toEqual([409, 'no_plays_left'])
    expect(statusAndCode(await post(`media/${mediaId}/continue`, { segment: 2 }))).toEqual([409, 'too_many'])
    expect((await shown()).interrupted).toBeNull()
  })

  it('behaves like any other if its prompt is hosted elsewhere', async () => {
    const { shown } = await takeSimultaneous({ audioUrl: 'https://example.com/a.mp3' })
    expect(await shown()).toMatchObject({ attemptsLeft: 3, playsLeft: 3, mayStartOver: true })
  })
})

describe('the timing of a prompt', () => {
  it('is stored for each segment, the last report of one', async () => {
    const { begin, post, record, media } = await takeSimultaneous()
    const mediaId = await begin()
    await record(mediaId, 0)
    expect((await post(`media/${mediaId}/prompt-timing`, TIMING)).status).toBe(204)
    expect((await post(`media/${mediaId}/prompt-timing`, { ...TIMING, elapsed: 9_000.5 })).status).toBe(204)
    const second = { ...TIMING, segment: 1, zero: -3_900, from: 4_000 }
    expect((await post(`media/${mediaId}/prompt-timing`, second)).status).toBe(204)
    expect((await media(mediaId)).attempts[0]!.promptTiming).toEqual({
      0: { zero: 62.5, from: 0, elapsed: 9_000.5, headphones: 'unheard' },
      1: { zero: -3_900, from: 4_000, elapsed: null, headphones: 'unheard' },
    })
  })

  it('is rejected for another candidate, another question, after the grace period, and beyond limits', async () => {
    const { begin, post, record } = await takeSimultaneous()
    const mediaId = await begin()
    await record(mediaId, 0)
    const report = (of = post, id = mediaId, body: object = TIMING) => of(`media/${id}/prompt-timing`, body)
    const other = await takeSimultaneous()
    expect(statusAndCode(await report(other.post))).toEqual([404, 'not_found'])
    expect(statusAndCode(await report(post, 'x'))).toEqual([404, 'not_found'])
    const ordinary = await takeSimultaneous({ simultaneous: false })
    expect(statusAndCode(await report(ordinary.post, await ordinary.begin()))).toEqual([404, 'not_found'])
    for (const wrong of [{ zero: 1e9 }, { segment: -1 }, { headphones: 'loud' }, { more: 1 }])
      expect((await report(post, mediaId, { ...TIMING, ...wrong })).status).toBe(400)
    service.clock.advance(10 * MINUTE_MS + 20_000)
    expect((await report()).status).toBe(204)
    service.clock.advance(20_000)
    expect(statusAndCode(await report())).toEqual([404, 'not_found'])
  })
})
