import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  MAX_ATTEMPT_BYTES,
  MAX_CAPTURES,
  MAX_PART_BYTES,
  MAX_PHOTO_BYTES,
  MAX_PHOTOS,
  MAX_SUBMISSION_BYTES,
} from '../../../src/domain/limits.ts'
import { candidateOf } from '../../support/candidate.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'
import { jpeg, MINUTE_MS, takeAssessment, webmPart } from '../../support/submissions.ts'

const service = await startServiceForFile({ ROLE: 'api' })

const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

describe('an attempt at a recorded answer', () => {
  it('counts from its beginning in any case, and is limited by the invite', async () => {
    const candidate = await takeAssessment(service)
    const first = await candidate.post('questions/1/attempts', { kind: 'video' })
    expect(first.status).toBe(201)
    expect(first.body).toEqual({ attemptId: expect.any(String), mediaId: expect.any(String), attemptsLeft: 2 })
    expect((await candidate.post(`media/${first.body.mediaId}/abandon`)).status).toBe(204)
    expect((await candidate.post('questions/1/attempts', { kind: 'audio' })).body.attemptsLeft).toBe(1)
    expect((await candidate.post('questions/1/attempts', { kind: 'audio' })).body.attemptsLeft).toBe(0)
    expect(statusAndCode(await candidate.post('questions/1/attempts', { kind: 'audio' }))).toEqual([409, 'no_attempts_left'])
  })

  it('is limited even if several requests arrive at once', async () => {
    const candidate = await takeAssessment(service)
    const answers = await Promise.all(Array.from({ length: 8 }, () => candidate.post('questions/1/attempts', { kind: 'video' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
  })

  it('ends the previous one, which is an answer if a part of it has arrived', async () => {
    const candidate = await takeAssessment(service)
    const first = await candidate.beginAttempt()
    await candidate.putPart(first, 0, 0, webmPart())
    await candidate.beginAttempt()
    expect((await candidate.media(first)).attempts).toMatchObject([{ state: 'complete' }])
  })

  it.each([
    ['is not open yet', { question: { openedAt: null, closesAt: null } }],
    ['is closed', { question: { closedAt: new Date() } }],
    ['is over', { question: { closesAt: new Date(0) } }],
    ['is answered by text', { responseType: 'text' }],
    ['is answered by text of a custom type', { responseType: 'essay' }],
    ['is answered by video', { responseType: 'video' }],
  ])('does not begin if the question %s', async (_what, choices) => {
    const candidate = await takeAssessment(service, choices)
    expect(statusAndCode(await candidate.post('questions/1/attempts', { kind: 'audio' }))).toEqual([409, 'closed'])
  })

  it('does not begin after the submission or the revocation of the invite', async () => {
    const handedIn = await takeAssessment(service, { submission: { state: 'submitted' }, invite: { status: 'completed' } })
    expect(statusAndCode(await handedIn.post('questions/1/attempts', { kind: 'audio' }))).toEqual([409, 'submitted'])
    const revoked = await takeAssessment(service, { invite: { status: 'revoked' } })
    expect(statusAndCode(await revoked.post('questions/1/attempts', { kind: 'audio' }))).toEqual([409, 'closed'])
  })

  it('does not begin if the organization has no storage left', async () => {
    const small = await startServiceForTest({ ROLE: 'api', MEDIA_QUOTA: '1000' })
    const candidate = await takeAssessment(small)
    const mediaId = await candidate.beginAttempt()
    expect((await candidate.putPart(mediaId, 0, 0, webmPart('x'.repeat(1_000)))).status).toBe(204)
    expect(statusAndCode(await candidate.post('questions/1/attempts', { kind: 'video' }))).toEqual([507, 'quota'])
    expect(statusAndCode(await candidate.post('media', { kind: 'screen' }))).toEqual([507, 'quota'])
  })
})

describe('a part of a recording', () => {
  it('is accepted in any order, and when repeated', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    for (const number of [2, 0, 1, 2, 0])
      expect((await candidate.putPart(mediaId, 0, number, webmPart(`part ${number}`))).status).toBe(204)
    const { parts, bytes, contentType } = await candidate.media(mediaId)
    expect(parts.map(({ number }) => number).sort()).toEqual([0, 1, 2])
    expect([Number(bytes), contentType]).toEqual([3 * webmPart('part 0').length, 'video/webm'])
    expect((await candidate.submission()).mediaBytes).toBe(bytes)
  })

  it('is accepted once from concurrent requests with the same and other content, and matches the store', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    const contents = ['one', 'other', 'one', 'other'].map((word) => webmPart(word))
    const answers = await Promise.all(contents.map((content) => candidate.putPart(mediaId, 0, 0, content)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 409, 409])
    expect((await candidate.media(mediaId)).parts).toHaveLength(1)
    expect(Number((await candidate.submission()).mediaBytes)).toBe((await candidate.media(mediaId)).parts[0]!.bytes)
  })

  it('is rejected with other content', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart('this'))
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 0, webmPart('that')))).toEqual([409, 'part_differs'])
  })

  it('is rejected if it is too big', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    const fits = webmPart('x'.repeat(MAX_PART_BYTES - webmPart().length))
    expect((await candidate.putPart(mediaId, 0, 0, fits)).status).toBe(204)
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 1, Buffer.alloc(MAX_PART_BYTES + 1)))).toEqual([413, 'too_big'])
  })

  it.each([
    ['a page called webm', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['Matroska of another kind', Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), Buffer.from('matroska')])],
    ['a photo', jpeg()],
    ['nothing', Buffer.alloc(0)],
  ])('is rejected if a segment begins with %s', async (_what, content) => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 0, content))).toEqual([422, 'not_media'])
    expect((await candidate.media(mediaId)).parts).toEqual([])
  })

  it('is rejected if its segment is of another format than the previous one', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    const mp4 = Buffer.from('\0\0\0\x18ftypisom')
    expect(statusAndCode(await candidate.putPart(mediaId, 1, 0, mp4))).toEqual([422, 'not_media'])
  })

  it('is rejected from another candidate, from another tab, and by an outdated link', async () => {
    const [candidate, other] = [await takeAssessment(service), await takeAssessment(service)]
    const mediaId = await candidate.beginAttempt()
    expect(statusAndCode(await other.putPart(mediaId, 0, 0, webmPart()))).toEqual([404, 'not_found'])
    expect(statusAndCode(await other.post(`media/${mediaId}/complete`, { segments: [1] }))).toEqual([404, 'not_found'])
    expect(statusAndCode(await other.post(`media/${mediaId}/abandon`))).toEqual([404, 'not_found'])
    const put = candidate.putPart(mediaId, 0, 0, webmPart())
    expect(statusAndCode(await put.set('x-tab', randomUUID()))).toEqual([409, 'taken_over'])
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 0, webmPart()).unset('x-tab'))).toEqual([409, 'taken_over'])
    const nowhere = service.http().put(`/i/nonsense/session/media/${mediaId}/parts/0/0`).type('application/octet-stream')
    expect((await nowhere.send(webmPart())).status).toBe(404)
    for (const id of ['x', randomUUID()])
      expect(statusAndCode(await candidate.putPart(id, 0, 0, webmPart()))).toEqual([404, 'not_found'])
    const { id, linkVersion } = candidate.invite
    await service.db.invite.update({ where: { id }, data: { linkVersion: linkVersion + 1 } })
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 0, webmPart()))).toEqual([404, 'not_found'])
  })

  it('is accepted for half a minute after the end, and no longer', async () => {
    const late = await startServiceForTest({ ROLE: 'api' })
    const candidate = await takeAssessment(late)
    const mediaId = await candidate.beginAttempt()
    late.clock.advance(10 * MINUTE_MS + 29_000)
    expect((await candidate.putPart(mediaId, 0, 0, webmPart())).status).toBe(204)
    late.clock.advance(1_000)
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 1, Buffer.from('late')))).toEqual([409, 'closed'])
    expect((await candidate.putPart(mediaId, 0, 0, webmPart())).status).toBe(204)
  })

  it('is rejected beyond the limits of an answer and of a candidate', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await service.db.mediaFile.update({ where: { id: mediaId }, data: { bytes: MAX_ATTEMPT_BYTES - 11 } })
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 0, webmPart()))).toEqual([507, 'quota'])
    const screen = await candidate.beginCapture()
    await service.db.submission.update({ where: { id: candidate.submissionId }, data: { mediaBytes: MAX_SUBMISSION_BYTES - 11 } })
    expect(statusAndCode(await candidate.putPart(screen, 0, 0, webmPart()))).toEqual([507, 'quota'])
    expect((await candidate.media(screen)).bytes).toBe(0n)
  })

  it('is rejected with a client error at a malformed address', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    for (const place of ['-1/0', '0/1.5', '1000/0', '0/100000', '0/x', '00/0']) {
      const path = `${candidate.session}/media/${mediaId}/parts/${place}`
      const answer = await service.http().put(path).set('x-tab', candidate.tab).type('application/octet-stream').send(webmPart())
      expect(answer.status, place).toBeGreaterThanOrEqual(400)
      expect(answer.status, place).toBeLessThan(500)
    }
  })
})

describe('a recording', () => {
  it('completes when all parts have arrived, and otherwise lists the missing ones', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    await candidate.putPart(mediaId, 1, 1, Buffer.from('more'))
    const early = await candidate.post(`media/${mediaId}/complete`, { segments: [2, 2] })
    expect(statusAndCode(early)).toEqual([409, 'parts_missing'])
    expect(early.body.missing).toEqual([
      [0, 1],
      [1, 0],
    ])
    await candidate.putPart(mediaId, 0, 1, Buffer.from('more'))
    await candidate.putPart(mediaId, 1, 0, webmPart())
    for (let time = 0; time < 2; time++)
      expect((await candidate.post(`media/${mediaId}/complete`, { segments: [2, 2] })).status).toBe(202)
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'joining', attempts: [{ state: 'complete' }] })
    expect(statusAndCode(await candidate.putPart(mediaId, 1, 2, Buffer.from('after the end')))).toEqual([409, 'closed'])
  })

  it('is no answer after it was abandoned', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    expect((await candidate.post(`media/${mediaId}/abandon`)).status).toBe(204)
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'deleted', attempts: [{ state: 'abandoned' }] })
    expect(statusAndCode(await candidate.post(`media/${mediaId}/complete`, { segments: [1] }))).toEqual([409, 'closed'])
    expect(statusAndCode(await candidate.putPart(mediaId, 0, 1, Buffer.from('more')))).toEqual([409, 'closed'])
  })

  it('counts as answered once a part has arrived, even without an end', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    const { path, press } = candidateOf(service, candidate.invite)
    await press('next', { number: '1' })
    const wordsAtTheEnd = async () => (await service.http().get(path)).text
    expect(await wordsAtTheEnd()).toContain('You have not answered any question.')
    await candidate.putPart(mediaId, 0, 0, webmPart())
    expect(await wordsAtTheEnd()).toContain('You have answered every question.')
  })

  it('allows one screen recording at a time', async () => {
    const candidate = await takeAssessment(service)
    const first = await candidate.beginCapture('screen')
    await candidate.putPart(first, 0, 0, webmPart())
    const webcam = await candidate.beginCapture('webcam')
    const second = await candidate.beginCapture('screen')
    expect((await candidate.media(first)).state).toBe('joining')
    expect([(await candidate.media(second)).state, (await candidate.media(webcam)).state]).toEqual(['uploading', 'uploading'])
  })

  it('limits how often a screen recording begins', async () => {
    const candidate = await takeAssessment(service)
    const { organization, submissionId } = candidate
    const of = { organizationId: organization.id, submissionId, kind: 'screen', state: 'ready', createdAt: new Date() } as const
    const rows = Array.from({ length: MAX_CAPTURES - 1 }, () => ({ ...of, id: randomUUID(), key: randomUUID() }))
    await service.db.mediaFile.createMany({ data: rows })
    expect((await candidate.post('media', { kind: 'screen' })).status).toBe(201)
    expect(statusAndCode(await candidate.post('media', { kind: 'screen' }))).toEqual([409, 'too_many'])
    expect((await candidate.post('media', { kind: 'webcam' })).status).toBe(201)
  })

  it('requires consent for a screen recording', async () => {
    const candidate = await takeAssessment(service, { submission: { consentMedia: ['camera'] } })
    expect(statusAndCode(await candidate.post('media', { kind: 'screen' }))).toEqual([409, 'closed'])
    expect((await candidate.post('media', { kind: 'webcam' })).status).toBe(201)
  })
})

describe('a photo', () => {
  const preparing = {
    submission: { state: 'preparing' as const },
    invite: { status: 'accepted' as const, assessmentSession: null },
  }

  it('is stored before the start, once per kind, and shown only to its candidate', async () => {
    const candidate = await takeAssessment(service, preparing)
    expect((await service.http().get(`${candidate.session}/photos/face_photo`)).status).toBe(404)
    expect((await candidate.putPhoto('face_photo', jpeg('first'))).status).toBe(204)
    expect((await candidate.putPhoto('face_photo', jpeg('second'))).status).toBe(204)
    const shown = await service.http().get(`${candidate.session}/photos/face_photo`)
    expect([shown.status, shown.headers['content-type'], shown.headers['cache-control']]).toEqual([
      200,
      'image/jpeg',
      'private, no-store',
    ])
    expect(shown.headers['x-content-type-options']).toBe('nosniff')
    expect(shown.body).toEqual(jpeg('second'))
    expect((await service.http().get(`${candidate.session}/photos/id_photo`)).status).toBe(404)
    expect((await service.http().get(`${candidate.session}/photos/webcam_still`)).status).toBe(400)
    const other = candidateOf(service, { id: candidate.invite.id, linkVersion: 7 })
    expect((await service.http().get(`${other.path}/session/photos/face_photo`)).status).toBe(404)
  })

  it('is rejected after the start and without consent', async () => {
    const started = await takeAssessment(service)
    expect(statusAndCode(await started.putPhoto('id_photo', jpeg()))).toEqual([409, 'closed'])
    const unasked = await takeAssessment(service, { ...preparing, submission: { state: 'preparing', consentMedia: ['camera'] } })
    expect(statusAndCode(await unasked.putPhoto('id_photo', jpeg()))).toEqual([409, 'closed'])
  })

  it('is replaced only a limited number of times', async () => {
    const candidate = await takeAssessment(service, preparing)
    const { organization, submissionId } = candidate
    const of = { organizationId: organization.id, submissionId, kind: 'id_photo', state: 'deleted' } as const
    const at = { createdAt: new Date(), completedAt: new Date() }
    const rows = Array.from({ length: MAX_PHOTOS - 1 }, () => ({ ...of, ...at, id: randomUUID(), key: randomUUID() }))
    await service.db.mediaFile.createMany({ data: rows })
    expect((await candidate.putPhoto('id_photo', jpeg())).status).toBe(204)
    expect(statusAndCode(await candidate.putPhoto('id_photo', jpeg()))).toEqual([409, 'too_many'])
    expect((await candidate.putPhoto('face_photo', jpeg())).status).toBe(204)
  })

  it('is rejected if it is not an image, or too big', async () => {
    const candidate = await takeAssessment(service, preparing)
    expect(statusAndCode(await candidate.putPhoto('id_photo', Buffer.from('<svg onload="alert(1)">')))).toEqual([
      422,
      'not_media',
    ])
    expect(statusAndCode(await candidate.putPhoto('id_photo', Buffer.alloc(MAX_PHOTO_BYTES + 1)))).toEqual([413, 'too_big'])
    expect(statusAndCode(await candidate.putPhoto('id_photo', jpeg(), 'text/html'))).toEqual([415, 'unsupported_media_type'])
  })

  it('is accepted from the webcam during the assessment, at a limited rate', async () => {
    const still = await startServiceForTest({ ROLE: 'api' })
    const candidate = await takeAssessment(still)
    expect((await candidate.putPhoto('webcam_still', jpeg())).status).toBe(204)
    expect(statusAndCode(await candidate.putPhoto('webcam_still', jpeg()))).toEqual([429, 'too_soon'])
    still.clock.advance(20_000)
    expect((await candidate.putPhoto('webcam_still', jpeg())).status).toBe(204)
    expect(await still.db.mediaFile.count({ where: { submissionId: candidate.submissionId, state: 'ready' } })).toBe(2)
    expect(Number((await candidate.submission()).mediaBytes)).toBe(2 * jpeg().length)
  })
})

it('discards the upload of the speed test', async () => {
  const candidate = await takeAssessment(service)
  const upload = service.http().post(`${candidate.session}/speed`).type('application/octet-stream')
  expect((await upload.send(Buffer.alloc(MAX_PART_BYTES))).status).toBe(204)
})
