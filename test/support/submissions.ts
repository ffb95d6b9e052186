import { randomUUID } from 'node:crypto'
import type { Prisma } from '../../src/generated/prisma/client.ts'
import { candidateOf } from './candidate.ts'
import type { Service } from './service.ts'

type Choices = {
  responseType?: string
  invite?: Partial<Prisma.InviteUncheckedCreateInput>
  submission?: Partial<Prisma.SubmissionUncheckedCreateInput>
  question?: Partial<Prisma.SubmissionQuestionUncheckedCreateInput>
}

export const MINUTE_MS = 60_000

/**
 * Creates a candidate in the middle of an assessment. Its only question is open for ten minutes and allows three recordings, in audio or video.
 * The candidate has consented to everything.
 */
export async function takeAssessment(service: Service, { responseType = 'mixed', invite, submission, question }: Choices = {}) {
  const { db, deps, make } = service
  const organization = await make.organization()
  const now = deps.clock()
  const submissionId = deps.newId()
  const assessment = await make.assessment(organization.id)
  const made = await make.invite(assessment, { status: 'started', startedAt: now, assessmentSession: submissionId, ...invite })
  const tab = randomUUID()
  const organizationId = organization.id
  const isPreparing = submission?.state === 'preparing'
  await db.submission.create({
    data: {
      id: submissionId,
      organizationId,
      inviteId: made.id,
      assessmentId: assessment.id,
      state: 'in_progress',
      consentMedia: ['camera', 'microphone', 'screen', 'id_photo', 'face_photo'],
      consentAt: now,
      questionReplayLimit: 1,
      answerRecordLimit: 3,
      tab,
      startedAt: isPreparing ? null : now,
      mediaDeletionDueAt: now,
      createdAt: now,
      updatedAt: now,
      ...submission,
    },
  })
  const paper = { script: '', audioUrl: '', videoUrl: '', inputType: 'text', points: 1, timeLimit: 600, responseType }
  const opened = { openedAt: now, closesAt: new Date(now.getTime() + 10 * MINUTE_MS) }
  await db.submissionQuestion.create({
    data: { submissionId, organizationId, number: 1, questionId: deps.newId(), ...paper, ...opened, ...question },
  })
  const { path } = candidateOf(service, made)
  const session = `${path}/session`

  const post = (place: string, body: object = {}) => service.http().post(`${session}/${place}`).set('x-tab', tab).send(body)
  const beginAttempt = async (kind = 'video'): Promise<string> => (await post('questions/1/attempts', { kind })).body.mediaId
  const beginCapture = async (kind = 'screen'): Promise<string> => (await post('media', { kind })).body.mediaId
  const putPart = (mediaId: string, segment: number, number: number, content: Buffer) =>
    service
      .http()
      .put(`${session}/media/${mediaId}/parts/${segment}/${number}`)
      .set({ 'x-tab': tab, 'content-type': 'application/octet-stream' })
      .send(content)
  const putPhoto = (kind: string, content: Buffer, type = 'image/jpeg') =>
    service.http().put(`${session}/photos/${kind}`).set({ 'x-tab': tab, 'content-type': type }).send(content)
  return {
    organization,
    invite: made,
    submissionId,
    session,
    tab,
    post,
    beginAttempt,
    beginCapture,
    putPart,
    putPhoto,
    media: (id: string) => db.mediaFile.findUniqueOrThrow({ where: { id }, include: { attempts: true, parts: true } }),
    submission: () => db.submission.findUniqueOrThrow({ where: { id: submissionId } }),
  }
}

/** Returns the beginning of a WebM file, followed by any content. */
export const webmPart = (content = ''): Buffer =>
  Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84]), Buffer.from(`webm${content}`)])

export const jpeg = (content = ''): Buffer => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.from(content)])

/** Creates an invite's submission with one text everywhere: an answer, an unplayable recording, and a note. @returns the submission's id. */
export async function submitRows(
  { db, deps, clock }: Service,
  of: { organizationId: string; inviteId: string; assessmentId: string },
  text: string,
): Promise<string> {
  const createdAt = clock.now()
  const submissionId = deps.newId()
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1, userAgent: text }
  await db.submission.create({
    data: {
      ...of,
      ...limits,
      id: submissionId,
      state: 'submitted',
      mediaDeletionDueAt: createdAt,
      createdAt,
      updatedAt: createdAt,
    },
  })
  await db.invite.update({ where: { id: of.inviteId }, data: { assessmentSession: submissionId } })
  const own = { organizationId: of.organizationId, submissionId }
  const texts = { inputType: text, responseType: text, script: text, audioUrl: text, videoUrl: text }
  const asked = { ...own, questionId: deps.newId(), points: 1, timeLimit: 0 }
  await db.submissionQuestion.create({ data: { ...asked, ...texts, number: 1 } })
  const mediaId = deps.newId()
  const kept = { ...own, id: mediaId, kind: 'answer', state: 'failed', key: mediaId, contentType: text, createdAt } as const
  await db.mediaFile.create({ data: kept })
  const take = { ...own, questionNumber: 1, state: 'complete', createdAt, completedAt: createdAt } as const
  await db.answerAttempt.create({ data: { ...take, id: deps.newId(), kind: 'text', text } })
  await db.answerAttempt.create({ data: { ...take, id: deps.newId(), kind: 'video', mediaId } })
  await db.sessionEvent.create({ data: { ...own, id: deps.newId(), kind: text, at: createdAt } })
  return submissionId
}

/** Creates rows of the released result of a submission from {@link submitRows}. */
export async function releaseRows(
  { db, deps, clock }: Service,
  of: { organizationId: string; submissionId: string },
  memberId: string,
) {
  const createdAt = clock.now()
  const grades = [{ number: 1, points: 1, ofPoints: 1, comment: 'words', graderId: memberId }]
  const result = { points: 1, ofPoints: 1, comment: 'words', message: 'words', toCandidate: true, grades }
  await db.release.create({ data: { ...of, id: deps.newId(), version: 1, releasedById: memberId, ...result, createdAt } })
  await db.submission.update({ where: { id: of.submissionId }, data: { state: 'released', releasedAt: createdAt } })
}
