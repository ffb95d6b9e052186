import type { Service } from './service.ts'

const AUDIO = Buffer.alloc(300_000, 'sound')

/**
 * Creates a released result of a candidate who has consented to sharing, with a text answer and a recorded answer.
 *
 * @param text content of every private field.
 */
export async function makeSharedResult(
  { db, deps }: Service,
  organizationId: string,
  { memberId, text: privateText, ...of }: { assessmentId: string; inviteId: string; memberId: string; text: string },
): Promise<{ id: string; mediaId: string; earlierId: string; photoId: string }> {
  const { newId, clock } = deps
  const [id, at, own] = [newId(), clock(), { organizationId }]
  const times = { submittedAt: at, releasedAt: at, createdAt: at, updatedAt: at }
  const consent = {
    consentVersion: 3,
    consentAt: at,
    userAgent: privateText,
    decision: 'hold',
    decisionNote: privateText,
    decidedAt: at,
  }
  const limits = { questionReplayLimit: 1, answerRecordLimit: 2 }
  await db.submission.create({ data: { ...own, ...of, ...limits, ...times, ...consent, id, state: 'released' } })
  const texts = { inputType: 'text', audioUrl: '', videoUrl: '', points: 10, timeLimit: 0 }
  const asked = [
    { number: 1, responseType: 'text', script: 'Write a note.' },
    { number: 2, responseType: 'audio', script: 'Say hello.' },
  ]
  await db.submissionQuestion.createMany({
    data: asked.map((question) => ({ ...own, ...texts, ...question, submissionId: id, questionId: newId() })),
  })
  const attempt = { ...own, submissionId: id, state: 'complete', createdAt: at, completedAt: at } as const
  await db.answerAttempt.create({ data: { ...attempt, id: newId(), questionNumber: 1, kind: 'text', text: 'My written answer' } })
  const store = async (kind: 'answer' | 'id_photo') => {
    const mediaId = newId()
    const key = `${organizationId}/${mediaId}`
    await deps.media.put(`${key}/file`, AUDIO)
    const file = {
      kind,
      state: 'ready',
      contentType: kind === 'answer' ? 'audio/webm' : 'image/jpeg',
      bytes: AUDIO.length,
    } as const
    await db.mediaFile.create({ data: { ...own, ...file, id: mediaId, key, submissionId: id, createdAt: at } })
    return mediaId
  }
  const [earlierId, mediaId, photoId] = [await store('answer'), await store('answer'), await store('id_photo')]
  const spoken = { ...attempt, questionNumber: 2, kind: 'audio' } as const
  await db.answerAttempt.create({ data: { ...spoken, id: newId(), mediaId: earlierId } })
  const later = new Date(at.getTime() + 1_000)
  await db.answerAttempt.create({ data: { ...spoken, id: newId(), mediaId, createdAt: later, completedAt: later } })
  const segments = [[0, 1_000, 'Words that were said', 0]]
  await db.transcript.create({ data: { ...own, mediaId, state: 'ready', segments, createdAt: at } })
  const grades = asked.map(({ number }) => ({ number, points: 7, ofPoints: 10, comment: privateText, graderId: memberId }))
  const result = { points: 14, ofPoints: 20, comment: privateText, message: privateText, toCandidate: false, grades }
  await db.release.create({
    data: { ...own, ...result, id: newId(), submissionId: id, version: 1, releasedById: memberId, createdAt: at },
  })
  return { id, mediaId, earlierId, photoId }
}
