import { describe, expect, it } from 'vitest'
import { deleteExpiredMedia, deleteSubmissionMedia } from '../../../../src/domain/submissions/media/delete-expired-media.ts'
import type { MediaKind } from '../../../../src/domain/submissions/media/media.ts'
import { removeFiles } from '../../../../src/domain/submissions/media/remove-files.ts'
import { settleOverdueRecordings } from '../../../../src/domain/submissions/media/settle-recordings.ts'
import { endSubmissionsOfClosedInvites } from '../../../../src/domain/submissions/taking/end-submissions-of-closed-invites.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { asOperator } from '../../../support/portal.ts'
import { type Service, startServiceForTest } from '../../../support/service.ts'
import { jpeg, MINUTE_MS, takeAssessment, webmPart } from '../../../support/submissions.ts'

const KEPT = { idPhoto: 30, proctoring: 90, answers: 365 }
const ALL = ['answer', 'id_photo', 'face_photo', 'webcam_still', 'webcam', 'screen'] as const satisfies MediaKind[]

const start = () => startServiceForTest({ ROLE: 'api' })

/** Creates a candidate with one media file of each kind. */
async function makeMedia(service: Service, choices: Parameters<typeof takeAssessment>[1] = {}) {
  const candidate = await takeAssessment(service, choices)
  const { organization, submissionId } = candidate
  const createdAt = service.clock.now()
  for (const kind of ALL) {
    const id = service.deps.newId()
    const key = `${organization.id}/${id}`
    await service.deps.media.put(`${key}/file`, Buffer.from('content'))
    const data = { id, key, organizationId: organization.id, submissionId, kind, createdAt }
    await service.db.mediaFile.create({ data: { ...data, state: 'ready', bytes: 7, contentType: 'x/y' } })
  }
  await service.db.submission.update({ where: { id: submissionId }, data: { mediaBytes: 7 * ALL.length } })
  const rows = () => service.db.mediaFile.findMany({ where: { submissionId } })
  return {
    ...candidate,
    kept: async () =>
      (await rows())
        .filter(({ state }) => state !== 'deleted')
        .map(({ kind }) => kind)
        .sort(),
    stored: async () => {
      const found = await Promise.all((await rows()).map(async ({ key, kind }) => ((await isStored(service, key)) ? kind : [])))
      return found.flat().sort()
    },
    readDeletionEvents: async () => {
      const events = await service.db.event.findMany({
        where: { inviteId: candidate.invite.id, type: 'submission.media_deleted' },
        orderBy: { sequence: 'asc' },
      })
      return events.map(({ data, actorType }) => [actorType, data])
    },
  }
}

async function isStored(service: Service, key: string): Promise<boolean> {
  const content = await service.deps.media.get(`${key}/file`)
  content?.destroy()
  return content !== null
}

async function sweep(service: Service) {
  await deleteExpiredMedia(service.system, KEPT)
  await removeFiles(service.system)
}
const handedIn = (service: Service) => ({
  submission: { state: 'submitted' as const, submittedAt: service.clock.now() },
  invite: { status: 'completed' as const },
})

describe('media', () => {
  it('is deleted by kind after submission, each with an event', async () => {
    const service = await start()
    const candidate = await makeMedia(service, handedIn(service))
    service.clock.advance(89 * DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toEqual([...ALL].sort())
    service.clock.advance(DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toEqual(['answer', 'face_photo', 'id_photo'])
    service.clock.advance(275 * DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toEqual([])
    const of = { inviteId: candidate.invite.id, submissionId: candidate.submissionId, status: 'completed' }
    expect(await candidate.readDeletionEvents()).toEqual([
      ['system', { ...of, assessmentId: candidate.invite.assessmentId, kinds: ['screen', 'webcam', 'webcam_still'] }],
      ['system', { ...of, assessmentId: candidate.invite.assessmentId, kinds: ['answer', 'face_photo', 'id_photo'] }],
    ])
  })

  it('is deleted a month after the release if it shows the face or the ID', async () => {
    const service = await start()
    const candidate = await makeMedia(service, {
      ...handedIn(service),
      submission: { state: 'released', submittedAt: service.clock.now(), releasedAt: service.clock.now() },
    })
    service.clock.advance(30 * DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toEqual(['answer', 'screen', 'webcam', 'webcam_still'])
  })

  it.each([
    ['never started', { submission: { state: 'preparing' as const }, invite: { status: 'accepted' as const } }],
    ['was withdrawn', { invite: { status: 'revoked' as const } }],
  ])('is deleted after a month if the candidate %s', async (_who, choices) => {
    const service = await start()
    const candidate = await makeMedia(service, choices)
    await endSubmissionsOfClosedInvites(service.system)
    service.clock.advance(29 * DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toHaveLength(ALL.length)
    service.clock.advance(DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toEqual([])
  })

  it('is deleted by the next day if the invite is withdrawn long afterwards', async () => {
    const service = await start()
    const candidate = await makeMedia(service)
    await sweep(service)
    service.clock.advance(40 * DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toHaveLength(ALL.length)
    await service.db.invite.update({ where: { id: candidate.invite.id }, data: { status: 'revoked' } })
    await endSubmissionsOfClosedInvites(service.system)
    service.clock.advance(DAY_MS)
    await sweep(service)
    expect(await candidate.kept()).toEqual([])
  })

  it('is deleted in time if it arrives after the check of its submission', async () => {
    const service = await start()
    const preparing = { submission: { state: 'preparing' }, invite: { status: 'accepted', assessmentSession: null } } as const
    const candidate = await takeAssessment(service, preparing)
    await sweep(service)
    service.clock.advance(20 * DAY_MS)
    expect((await candidate.putPhoto('id_photo', jpeg())).status).toBe(204)
    const states = async () => {
      await sweep(service)
      const found = await service.db.mediaFile.findMany({ where: { submissionId: candidate.submissionId } })
      return found.map(({ state }) => state)
    }
    service.clock.advance(30 * DAY_MS - 1)
    expect(await states()).toEqual(['ready'])
    service.clock.advance(1)
    expect(await states()).toEqual(['deleted'])
  })

  it('is no longer searched for once a closed submission has none left', async () => {
    const service = await start()
    const candidate = await makeMedia(service, handedIn(service))
    const next = async () => {
      await sweep(service)
      return (await candidate.submission()).mediaDeletionDueAt
    }
    expect(await next()).toEqual(new Date(service.clock.now().getTime() + DAY_MS))
    service.clock.advance(89.5 * DAY_MS)
    expect(await next()).toEqual(new Date(service.clock.now().getTime() + DAY_MS / 2))
    service.clock.advance(276 * DAY_MS)
    expect(await next()).toBeNull()
    expect(await candidate.kept()).toEqual([])
  })

  it('leaves the store a minute later, and no longer counts', async () => {
    const service = await start()
    const candidate = await makeMedia(service, handedIn(service))
    service.clock.advance(365 * DAY_MS)
    await sweep(service)
    expect(await candidate.stored()).toHaveLength(ALL.length)
    service.clock.advance(MINUTE_MS)
    for (let time = 0; time < 2; time++) {
      await sweep(service)
      expect(await candidate.stored()).toEqual([])
      expect((await candidate.submission()).mediaBytes).toBe(0n)
    }
  })

  it('is retried each hour if the store fails to delete it, with one log line, and delays no others', async () => {
    const service = await start()
    const candidate = await makeMedia(service, handedIn(service))
    service.clock.advance(365 * DAY_MS)
    await sweep(service)
    const stuck = await service.db.mediaFile.findFirstOrThrow({ where: { submissionId: candidate.submissionId, kind: 'screen' } })
    const { media } = service.deps
    const { deletePrefix } = media
    const tried: string[] = []
    media.deletePrefix = async (prefix) => {
      tried.push(prefix)
      if (prefix === `${stuck.key}/`) throw new Error('EACCES')
      return deletePrefix(prefix)
    }
    const warnings = () => service.logLines.filter((line) => line.includes('does not delete') && line.includes(stuck.key))
    service.clock.advance(MINUTE_MS)
    await sweep(service)
    expect(await candidate.stored()).toEqual(['screen'])
    await sweep(service)
    expect(tried).toHaveLength(ALL.length)
    service.clock.advance(60 * MINUTE_MS)
    await sweep(service)
    expect(tried).toHaveLength(ALL.length + 1)
    expect(warnings()).toHaveLength(1)
    media.deletePrefix = deletePrefix
    service.clock.advance(60 * MINUTE_MS)
    await sweep(service)
    expect(await candidate.stored()).toEqual([])
    expect((await candidate.submission()).mediaBytes).toBe(0n)
  })

  it('is left to later sweeps while the store is down', async () => {
    const service = await start()
    const candidates = [await makeMedia(service, handedIn(service)), await makeMedia(service, handedIn(service))]
    service.clock.advance(365 * DAY_MS)
    await sweep(service)
    service.clock.advance(MINUTE_MS)
    const { media } = service.deps
    const { deletePrefix } = media
    let tries = 0
    media.deletePrefix = () => Promise.reject(new Error(`away, ${++tries}`))
    await sweep(service)
    expect(tries).toBe(5)
    media.deletePrefix = deletePrefix
    service.clock.advance(60 * MINUTE_MS)
    await sweep(service)
    for (const candidate of candidates) expect(await candidate.stored()).toEqual([])
  })

  it("is deleted at once on the organization's request, for one invite and the given kinds", async () => {
    const service = await start()
    const [candidate, other] = [await makeMedia(service), await makeMedia(service)]
    const ctx = asOperator(service, candidate.organization)
    await deleteSubmissionMedia(ctx, candidate.invite.id, ['id_photo', 'face_photo'])
    expect(await candidate.kept()).toEqual(['answer', 'screen', 'webcam', 'webcam_still'])
    service.clock.advance(MINUTE_MS)
    await sweep(service)
    expect(await candidate.stored()).toEqual(['answer', 'screen', 'webcam', 'webcam_still'])
    expect(await other.kept()).toHaveLength(ALL.length)
    expect(await candidate.readDeletionEvents()).toMatchObject([['system', { kinds: ['face_photo', 'id_photo'] }]])
    const audited = await service.db.auditEntry.findMany({
      where: { organizationId: candidate.organization.id, action: 'deleted_media' },
    })
    expect(audited).toMatchObject([{ targetId: candidate.invite.id, details: { kinds: ['id_photo', 'face_photo'] } }])
    await expect(deleteSubmissionMedia(ctx, other.invite.id, ['answer'])).rejects.toMatchObject({ kind: 'invite_not_found' })
  })
})

describe('a photo', () => {
  it('leaves nothing if the store fails, and frees its bytes', async () => {
    const service = await start()
    const preparing = { submission: { state: 'preparing' }, invite: { status: 'accepted', assessmentSession: null } } as const
    const candidate = await takeAssessment(service, preparing)
    const { media } = service.deps
    const { put } = media
    media.put = () => Promise.reject(new Error('The store is away'))
    expect((await candidate.putPhoto('id_photo', jpeg())).status).toBe(500)
    media.put = put
    expect((await candidate.putPhoto('id_photo', jpeg())).status).toBe(204)
    for (let time = 0; time < 2; time++) {
      service.clock.advance(10 * MINUTE_MS)
      await sweep(service)
    }
    expect(await service.db.mediaFile.count({ where: { submissionId: candidate.submissionId, state: 'joining' } })).toBe(0)
    expect((await candidate.submission()).mediaBytes).toBe(BigInt(jpeg().length))
  })
})

describe('an incomplete recording', () => {
  it('is completed with its parts once its time and the time for uploading are over', async () => {
    const service = await start()
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    const empty = await candidate.beginCapture('webcam')
    service.clock.advance(10 * MINUTE_MS + 29_000)
    expect(await settleOverdueRecordings(service.system)).toBe(0)
    service.clock.advance(1_000)
    expect(await settleOverdueRecordings(service.system)).toBe(1)
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'joining', attempts: [{ state: 'complete' }] })
    expect((await candidate.media(empty)).state).toBe('uploading')
  })

  it("doesn't count as answered if nothing has arrived", async () => {
    const service = await start()
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    service.clock.advance(11 * MINUTE_MS)
    await settleOverdueRecordings(service.system)
    expect(await candidate.media(mediaId)).toMatchObject({ state: 'deleted', attempts: [{ state: 'abandoned' }] })
  })

  it('may pause for a day without a time limit', async () => {
    const service = await start()
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginCapture()
    await candidate.putPart(mediaId, 0, 0, webmPart())
    service.clock.advance(DAY_MS - 1)
    expect(await settleOverdueRecordings(service.system)).toBe(0)
    service.clock.advance(1)
    expect(await settleOverdueRecordings(service.system)).toBe(1)
    expect((await candidate.media(mediaId)).state).toBe('joining')
  })
})
