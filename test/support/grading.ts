import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { type NewRelease, releaseResult } from '../../src/domain/submissions/grading/release-result.ts'
import { type NewGrade, saveGrade } from '../../src/domain/submissions/grading/save-grade.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from './candidate.ts'
import type { Service } from './service.ts'
import { makeTaking, type Taken } from './taking.ts'
import { waitUntil } from './wait-until.ts'

/** Creates a submitted submission with two text answers, for five points and three points by default. */
export async function makeSubmitted(service: Service, { secondGrader = false, ...of }: Taken & { secondGrader?: boolean } = {}) {
  const made = await makeTaking(service, { questions: [{ points: 5 }, { points: 3 }], ...of })
  const { candidate, organization, assessment } = made
  await service.db.assessment.update({ where: { id: assessment.id }, data: { secondGrader } })
  for (const number of [1, 2]) {
    await candidate.press('open', { number: String(number) })
    await candidate.answer(number, `Answer ${number}`, 'next')
  }
  await candidate.press('finish')
  const { id: submissionId } = await made.submission()
  /** Adds a member. @returns the member and their context. */
  const join = async (roles: string[] = ['grader']) => {
    const member = await service.make.member(organization.id, { roles })
    return { member, ctx: asMember(service, organization, member) }
  }
  return {
    ...made,
    submissionId,
    join,
    assign: (graderId: string | null) =>
      service.db.invite.update({ where: { id: made.invite.id }, data: { assignedGraderId: graderId } }),
    /** Saves a grade as a grader who has seen all changes. */
    grade: (ctx: Context, number: number, points: number | null, more: Partial<NewGrade> = {}) =>
      saveGrade(ctx, { submissionId, number, points, comment: '', seen: service.clock.now(), ...more }),
    release: (ctx: Context, more: Partial<NewRelease> = {}) =>
      releaseResult(ctx, { submissionId, comment: '', message: '', toCandidate: false, ...more }),
    grades: () => service.db.grade.findMany({ where: { submissionId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] }),
    releases: () => service.db.release.findMany({ where: { submissionId }, orderBy: { version: 'asc' } }),
  }
}

/** Creates a submitted submission with an audio answer for ten points, a video answer for five, and a text answer for twenty. */
export async function makeRecorded(service: Service, recordings: Record<'audio' | 'video', Buffer[]>, of: Taken = {}) {
  const questions = [
    { responseType: 'audio', points: 10 },
    { responseType: 'video', points: 5 },
    { responseType: 'text', points: 20 },
  ]
  const waived = { recipientName: 'Mei Tanaka', waivedChecks: ['camera', 'microphone'] }
  const made = await makeTaking(service, { questions, ...waived, ...of })
  const { candidate, tab } = made
  for (const [number, kind] of [
    [1, 'audio'],
    [2, 'video'],
  ] as const)
    await recordAnswer(service, { candidate, tab, number, kind, slices: recordings[kind] })
  await candidate.press('open', { number: '3' })
  await candidate.answer(3, 'First I would ask how they handle calls today.', 'next')
  await candidate.press('finish')
  const { id: submissionId } = await made.submission()
  await untilReady(service, submissionId)
  return { ...made, submissionId }
}

/** Creates a submitted submission with this many audio answers for ten points each. */
export async function makeSpoken(service: Service, slices: Buffer[], count: number, of: Taken = {}) {
  const questions = Array.from({ length: count }, () => ({ responseType: 'audio', points: 10 }))
  const made = await makeTaking(service, { questions, recipientName: 'Mei Tanaka', waivedChecks: ['microphone'], ...of })
  const { candidate, tab } = made
  for (let number = 1; number <= count; number++) await recordAnswer(service, { candidate, tab, number, kind: 'audio', slices })
  await candidate.press('finish')
  const { id: submissionId } = await made.submission()
  await untilReady(service, submissionId)
  return { ...made, submissionId }
}

type RecordedAnswer = {
  candidate: ReturnType<typeof candidateOf>
  tab: string
  number: number
  kind: 'audio' | 'video'
  slices: Buffer[]
}

async function recordAnswer(service: Service, { candidate, tab, number, kind, slices }: RecordedAnswer): Promise<void> {
  await candidate.press('open', { number: String(number) })
  const { body } = await candidate.session('post', `/questions/${number}/attempts`, { tab, body: { kind } })
  for (const [part, slice] of slices.entries())
    await service
      .http()
      .put(`${candidate.path}/session/media/${body.mediaId}/parts/0/${part}`)
      .set({ 'x-tab': tab, 'content-type': 'application/octet-stream' })
      .send(slice)
  await candidate.session('post', `/media/${body.mediaId}/complete`, { tab, body: { segments: [slices.length] } })
  await candidate.press('next', { number: String(number) })
}

/** Waits until the recordings are joined and their levels are measured. */
async function untilReady(service: Service, submissionId: string): Promise<void> {
  const media = () => service.db.mediaFile.findMany({ where: { submissionId } })
  const isReady = async () => (await media()).every(({ state, levels }) => state === 'ready' && levels !== null)
  await waitUntil('the recordings to be ready', async () => (await isReady()) || undefined)
}

/** Creates another candidate of an assessment, who submits this many text answers. */
export async function submitAnother(
  service: Service,
  assessment: { id: string; organizationId: string },
  { answers, recipientName = null }: { answers: number; recipientName?: string | null },
) {
  const invite = await service.make.invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS, recipientName })
  const candidate = candidateOf(service, invite)
  await consent(candidate)
  await candidate.press('start')
  for (let number = 1; number <= answers; number++) {
    await candidate.press('open', { number: String(number) })
    await candidate.answer(number, `Answer ${number}`, 'next')
  }
  await candidate.press('finish')
  const { id: submissionId } = await service.db.submission.findFirstOrThrow({ where: { inviteId: invite.id } })
  return { invite, candidate, submissionId }
}

export const asMember = (
  service: Service,
  { id, name }: { id: string; name: string },
  member: { id: string; userId: string; roles: string[] },
): Context =>
  enterOrganization(
    { ...service.system, actor: { kind: 'member', id: member.id, userId: member.userId, roles: member.roles } },
    { id, name, tier: 'standard' },
    'live',
  )

/** Creates rows of a graded submission whose released result was reopened. @returns its id. */
export async function makeReopened(
  { db, deps }: Service,
  { memberId, ...of }: { organizationId: string; assessmentId: string; inviteId: string; memberId: string },
): Promise<string> {
  const { newId } = deps
  const [id, at] = [newId(), deps.clock()]
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  const times = { startedAt: at, submittedAt: at, releasedAt: at, createdAt: at, updatedAt: at }
  await db.submission.create({ data: { ...of, ...limits, ...times, id, state: 'submitted' } })
  const own = { organizationId: of.organizationId, submissionId: id }
  const question = { inputType: 'text', responseType: 'text', script: '', audioUrl: '', videoUrl: '', points: 1, timeLimit: 0 }
  await db.submissionQuestion.create({ data: { ...own, number: 1, questionId: newId(), ...question } })
  const grade = { questionNumber: 1, graderId: memberId, round: 1, points: 1, comment: 'words', createdAt: at, updatedAt: at }
  await db.grade.create({ data: { id: newId(), ...own, ...grade } })
  const result = { points: 1, ofPoints: 1, comment: 'words', message: 'words', toCandidate: false, grades: [] }
  await db.release.create({ data: { id: newId(), ...own, version: 1, releasedById: memberId, ...result, createdAt: at } })
  return id
}
