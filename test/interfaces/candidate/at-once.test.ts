import { randomUUID } from 'node:crypto'
import type { Test } from 'supertest'
import { describe, expect, it } from 'vitest'
import { MAX_SMALL_PARTS, SMALL_PART_BYTES } from '../../../src/domain/limits.ts'
import { chooseAnswer } from '../../../src/domain/submissions/choose-answer.ts'
import { settleOverdueRecordings } from '../../../src/domain/submissions/media/settle-recordings.ts'
import { candidateOf } from '../../support/candidate.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'
import { jpeg, MINUTE_MS, takeAssessment, webmPart } from '../../support/submissions.ts'
import { waitUntil } from '../../support/wait-until.ts'

// Candidate requests during another change: from a second tab, by hand, late, or when time runs out.

const service = await startServiceForFile({ ROLE: 'api' })
const { db } = service

type Candidate = Awaited<ReturnType<typeof takeAssessment>>

const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

const waitForLocks = (count: number) =>
  waitUntil('statements to wait for a lock', async () => {
    const waiting = await db.$queryRaw<object[]>`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return waiting.length >= count || undefined
  })

const saveText = ({ session, tab }: Candidate) =>
  service.http().put(`${session}/questions/1/text`).set('x-tab', tab).send({ text: 'An answer', revision: 1 })

describe('a tab while another tab takes over the session', () => {
  it.each<[string, (candidate: Candidate, mediaId: string) => Test]>([
    ['saves no text', saveText],
    ['is granted no play', (candidate) => candidate.post('questions/1/plays')],
    ['begins no attempt', (candidate) => candidate.post('questions/1/attempts', { kind: 'audio' })],
    ['begins no screen recording', (candidate) => candidate.post('media', { kind: 'screen' })],
    ['sends no picture of the webcam', (candidate) => candidate.putPhoto('webcam_still', jpeg())],
    ['adds no part', (candidate, mediaId) => candidate.putPart(mediaId, 0, 0, webmPart())],
  ])('%s', async (_what, send) => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    const answer = await db.$transaction(async (tx) => {
      await tx.submission.update({ where: { id: candidate.submissionId }, data: { tab: randomUUID() } })
      const sent = send(candidate, mediaId).then((response) => response)
      await waitForLocks(1)
      return { sent }
    })
    expect(statusAndCode(await answer.sent)).toEqual([409, 'taken_over'])
  })
})

describe('a text that is saved during submission', () => {
  it('is saved or rejected without a deadlock', async () => {
    const candidate = await takeAssessment(service)
    const key = { organizationId: candidate.organization.id, submissionId: candidate.submissionId, number: 1 }
    const where = { organizationId_submissionId_number: key }
    const answer = await db.$transaction(async (tx) => {
      await tx.submission.update({ where: { id: candidate.submissionId }, data: { state: 'submitted' } })
      const sent = saveText(candidate).then((response) => response)
      await waitForLocks(1)
      await tx.submissionQuestion.update({ where, data: { closedAt: service.clock.now() } })
      return { sent }
    })
    expect(statusAndCode(await answer.sent)).toEqual([409, 'submitted'])
  })
})

describe('a webcam picture that is sent during submission', () => {
  it('is rejected, and takes no storage', async () => {
    const candidate = await takeAssessment(service)
    const answer = await db.$transaction(async (tx) => {
      await tx.submission.update({ where: { id: candidate.submissionId }, data: { state: 'submitted' } })
      const sent = candidate.putPhoto('webcam_still', jpeg()).then((response) => response)
      await waitForLocks(1)
      return { sent }
    })
    expect(statusAndCode(await answer.sent)).toEqual([409, 'submitted'])
    expect((await candidate.submission()).mediaBytes).toBe(0n)
  })
})

describe('a screen recording that starts while a part of the previous one arrives', () => {
  it('ends the previous one, which keeps the part', async () => {
    const candidate = await takeAssessment(service)
    const first = await candidate.beginCapture('screen')
    await candidate.putPart(first, 0, 0, webmPart())
    const sent = await db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT id FROM media_files WHERE id = ${first}::uuid FOR UPDATE`
      const part = candidate.putPart(first, 0, 1, Buffer.from('more')).then((response) => response)
      await waitForLocks(1)
      const capture = candidate.post('media', { kind: 'screen' }).then((response) => response)
      await waitForLocks(2)
      return [part, capture]
    })
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([204, 201])
    const { state, parts } = await candidate.media(first)
    expect([state, parts.length]).toEqual(['joining', 2])
  })
})

describe('a recording that times out while its first part arrives', () => {
  it('keeps the part that was acknowledged', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await db.mediaFile.update({ where: { id: mediaId }, data: { createdAt: new Date(0) } })
    const sent = await db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT id FROM submissions WHERE id = ${candidate.submissionId}::uuid FOR UPDATE`
      const part = candidate.putPart(mediaId, 0, 0, webmPart()).then((response) => response)
      await waitForLocks(1)
      const settled = settleOverdueRecordings(service.system)
      await waitForLocks(2)
      return { part, settled }
    })
    expect((await sent.part).status).toBe(204)
    await sent.settled
    expect((await candidate.media(mediaId)).state).toBe('joining')
  })
})

describe('abandoning', () => {
  it('is allowed only for attempts and empty captures; screen recordings with parts stay', async () => {
    const candidate = await takeAssessment(service)
    const [recorded, empty] = [await candidate.beginCapture('screen'), await candidate.beginCapture('webcam')]
    await candidate.putPart(recorded, 0, 0, webmPart())
    expect(statusAndCode(await candidate.post(`media/${recorded}/abandon`))).toEqual([409, 'closed'])
    expect((await candidate.media(recorded)).state).toBe('uploading')
    for (let time = 0; time < 2; time++) expect((await candidate.post(`media/${empty}/abandon`)).status).toBe(204)
  })

  it('is rejected after the time of its question', async () => {
    const late = await startServiceForTest({ ROLE: 'api' })
    const candidate = await takeAssessment(late)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    late.clock.advance(10 * MINUTE_MS)
    expect(statusAndCode(await candidate.post(`media/${mediaId}/abandon`))).toEqual([409, 'closed'])
  })

  it('is rejected after the submission', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    await candidateOf(service, candidate.invite).press('finish')
    expect(statusAndCode(await candidate.post(`media/${mediaId}/abandon`))).toEqual([409, 'closed'])
  })
})

it('uses the attempt that began last as the answer, in any order of arrival', async () => {
  const slow = await startServiceForTest({ ROLE: 'api' })
  const candidate = await takeAssessment(slow)
  const [first, last] = [await candidate.beginAttempt(), await candidate.beginAttempt()]
  for (const mediaId of [last, first]) {
    slow.clock.advance(1_000)
    await candidate.putPart(mediaId, 0, 0, webmPart())
    expect((await candidate.post(`media/${mediaId}/complete`, { segments: [1] })).status).toBe(202)
  }
  const attempts = await slow.db.answerAttempt.findMany({ where: { submissionId: candidate.submissionId } })
  expect(attempts.map(({ state }) => state)).toEqual(['complete', 'complete'])
  expect(chooseAnswer(attempts)?.mediaId).toBe(last)
})

describe('a forged request', () => {
  it('gets a limited list of missing parts for any number of claimed segments', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    const { status, body } = await candidate.post(`media/${mediaId}/complete`, { segments: Array(1_000).fill(100_000) })
    expect([status, body.code, body.missing.length, body.missing[0]]).toEqual([409, 'parts_missing', 1_000, [0, 1]])
  })

  it('cannot fill the disk with tiny parts', async () => {
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await db.$executeRaw`
      INSERT INTO media_file_parts (media_id, segment, number, organization_id, bytes, sha256, created_at)
      SELECT ${mediaId}::uuid, 0, n, ${candidate.organization.id}::uuid, 1, '\\x00', now() FROM generate_series(1, ${MAX_SMALL_PARTS}::int) n`
    expect(statusAndCode(await candidate.putPart(mediaId, 1, 1, Buffer.from('x')))).toEqual([507, 'quota'])
    expect(statusAndCode(await candidate.putPart(mediaId, 1, 1, Buffer.alloc(0)))).toEqual([507, 'quota'])
    expect((await candidate.putPart(mediaId, 1, 1, Buffer.alloc(SMALL_PART_BYTES))).status).toBe(204)
  })
})
