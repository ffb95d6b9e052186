import { isSimultaneous } from '../../assessments/simultaneous.ts'
import type { Context } from '../../context.ts'
import { MAX_CAPTURES, MAX_SEGMENTS, mayRestart } from '../../limits.ts'
import { RECORDED_KINDS, type RecordedKind } from '../../ports/question-kind.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { type MediaFile, toNewMediaRow } from '../media/media.ts'
import {
  completeOpenRecordings,
  countParts,
  countSegments,
  discardRecording,
  lockRecording,
  settleRecording,
} from '../media/settle-recordings.ts'
import { attemptLimitOf } from '../taking/attempt-limits.ts'
import { attemptOnce } from '../taking/attempt-once.ts'
import { IS_INTERRUPTED } from '../taking/interrupted-attempt.ts'
import { isPreparing, isQuestionOpen, type SubmissionQuestion } from '../taking/paper.ts'
import { refuseSession } from '../taking/refuse-session.ts'
import { refuseWithoutSpace } from '../taking/refuse-without-space.ts'
import { lockSubmission, type PreparedSession, requireInProgress } from '../taking/session.ts'
import { removeFile } from './answer-files.ts'
import { lockQuestion } from './lock-question.ts'

/** Missing parts named in one reply. */
const MISSING_AT_ONCE = 1_000

/** Recordings that run during the whole test. */
export const CAPTURES = ['screen', 'webcam'] as const
export type Capture = (typeof CAPTURES)[number]

export type BegunAttempt = { attemptId: string; mediaId: string; attemptsLeft: number }

/**
 * Starts an attempt at a recorded answer. It counts from now on, and ends the previous attempt.
 *
 * @param isRestart true to restart an interrupted attempt with little saved: it doesn't count, and is kept for the organization.
 * @throws DomainError session_refused: closed (the question is not open, or answered otherwise), preparing, submitted, taken_over,
 *   no_attempts_left (also for a restart of a simultaneous recording), quota; as {@link attemptOnce}.
 */
export async function beginAttempt(
  session: PreparedSession,
  number: number,
  kind: RecordedKind,
  isRestart = false,
): Promise<BegunAttempt> {
  requireInProgress(session)
  const { submission } = session
  return attemptOnce(session, `${isRestart ? 'restart' : 'attempt'} ${number} ${kind}`, async (inside) => {
    const { db, deps, organization } = inside
    await refuseWithoutSpace(inside)
    await lockSubmission({ ...session, ctx: inside })
    const question = await lockQuestion(inside, submission.id, number)
    if (!question || !isQuestionOpen(question, deps.clock()) || !acceptsKind(inside, question, kind))
      return refuseSession('closed')
    if (isPreparing(question, deps.clock())) refuseSession('preparing')
    const key = { organizationId: organization.id, submissionId: submission.id }
    if (isRestart && isSimultaneous(question)) refuseSession('no_attempts_left')
    if (isRestart) await restartAttempt(inside, submission.id, number)
    const recorded = { questionNumber: number, kind: { in: [...RECORDED_KINDS] }, restarted: false }
    const earlierAttempts = await db.answerAttempt.count({ where: { ...key, ...recorded } })
    const limit = attemptLimitOf(question, submission)
    if (earlierAttempts >= limit) refuseSession('no_attempts_left')
    await completeOpenRecordings(inside, submission.id, number)
    const media = toNewMediaRow(inside, submission.id, 'answer')
    await db.mediaFile.create({ data: media })
    const attempt = { ...key, id: deps.newId(), questionNumber: number, kind, state: 'recording', mediaId: media.id } as const
    await db.answerAttempt.create({ data: { ...attempt, createdAt: media.createdAt } })
    return { attemptId: attempt.id, mediaId: media.id, attemptsLeft: limit - earlierAttempts - 1 }
  })
}

/** @throws DomainError session_refused (no_attempts_left) where nothing was interrupted, too much is saved, or it was started over before. */
async function restartAttempt(ctx: Context, submissionId: string, number: number): Promise<void> {
  const { db, organization } = ctx
  const key = { organizationId: organization.id, submissionId, questionNumber: number }
  const interrupted = await db.answerAttempt.findFirst({ where: { ...key, ...IS_INTERRUPTED } })
  const isAgain = (await db.answerAttempt.count({ where: { ...key, restarted: true } })) > 0
  if (!interrupted?.mediaId || isAgain || !mayRestart(await countParts(ctx, interrupted.mediaId)))
    return refuseSession('no_attempts_left')
  await db.answerAttempt.updateMany({ where: { organizationId: organization.id, id: interrupted.id }, data: { restarted: true } })
}

/**
 * Continues an interrupted attempt at an open question with a new segment; a simultaneous one once.
 *
 * @param segment first unused number in the browser. @returns the segment to record.
 * @throws DomainError session_refused: not_found; closed (the attempt has ended, or the question is not open), submitted, taken_over,
 *   too_many; as {@link attemptOnce}.
 */
export async function continueAttempt(session: PreparedSession, mediaId: string, segment: number): Promise<{ segment: number }> {
  requireInProgress(session)
  const { id } = await findRecording(session, mediaId)
  return attemptOnce(session, `continue ${id}`, async (inside) => {
    const { db, organization } = inside
    const organizationId = organization.id
    await lockRecording(inside, id)
    await lockSubmission({ ...session, ctx: inside })
    const attempt = await db.answerAttempt.findFirst({
      where: { organizationId, mediaId: id, media: { state: 'uploading' }, ...IS_INTERRUPTED },
    })
    const question = await findOpenQuestionOf(inside, id)
    if (!attempt || !question) return refuseSession('closed')
    if (isSimultaneous(question) && (await countSegments(inside, id)) > 1) return refuseSession('too_many')
    const { _max } = await db.mediaFilePart.aggregate({ where: { organizationId, mediaId: id }, _max: { segment: true } })
    const next = Math.max(segment, (_max.segment ?? -1) + 1)
    if (next >= MAX_SEGMENTS) return refuseSession('too_many')
    // Reuses a granted attempt in which nothing was recorded.
    if (next > 0)
      await db.answerAttempt.updateMany({ where: { organizationId, id: attempt.id }, data: { interruptions: { increment: 1 } } })
    return { segment: next }
  })
}

const acceptsKind = ({ deps }: Context, { responseType }: SubmissionQuestion, kind: RecordedKind): boolean =>
  deps.kinds.answering(responseType).records.includes(kind)

/**
 * Starts recording the screen or the webcam. One of each at a time: an earlier one is completed with what has arrived.
 *
 * @throws DomainError session_refused: closed, also without the candidate's consent to it; submitted, taken_over, quota, too_many; as
 *   {@link attemptOnce}.
 */
export async function beginCapture(session: PreparedSession, kind: Capture): Promise<{ mediaId: string }> {
  requireInProgress(session)
  const { ctx, submission } = session
  if (!submission.consentMedia.includes(kind === 'screen' ? 'screen' : 'camera')) refuseSession('closed')
  const { mediaId, before } = await attemptOnce(session, kind, async (inside) => {
    const { db, organization } = inside
    await refuseWithoutSpace(inside)
    await lockSubmission({ ...session, ctx: inside })
    const key = { organizationId: organization.id, submissionId: submission.id, kind }
    if ((await db.mediaFile.count({ where: key })) >= MAX_CAPTURES) refuseSession('too_many')
    const before = await db.mediaFile.findMany({
      where: { ...key, state: 'uploading' },
      select: { id: true },
    })
    const media = toNewMediaRow(inside, submission.id, kind)
    await db.mediaFile.create({ data: media })
    return { mediaId: media.id, before }
  })
  // Afterwards, because recordings are locked before submissions, see putPart.
  for (const { id } of before) await inTransaction(ctx, (inside) => settleRecording(inside, id))
  return { mediaId }
}

/** @param segments number of parts in each segment. @param incomplete true if missing parts will not come. */
export type RecordingCompletion = { segments: number[]; incomplete?: boolean }

/**
 * Completes a recording or file and queues joining it. Repeatable. A file needs all its parts. Pages of an earlier release give attempts
 * no ids and don't report when the candidate stops: for them this is the time.
 *
 * @throws DomainError session_refused: not_found; parts_missing with the missing ones, also if nothing arrived; closed if it was abandoned.
 */
export async function completeRecording(
  session: PreparedSession,
  mediaId: string,
  { segments, incomplete = false }: RecordingCompletion,
): Promise<void> {
  const { ctx } = session
  const media = await findRecording(session, mediaId)
  if (media.state === 'deleted') refuseSession('closed')
  if (media.state !== 'uploading') return
  const parts = await ctx.db.mediaFilePart.findMany({
    where: { organizationId: ctx.organization.id, mediaId: media.id },
    select: { segment: true, number: true },
  })
  const isFile = media.fileName !== null
  const missing = findMissing(parts, isFile ? media.declaredParts : segments)
  if ((missing.length > 0 && (isFile || !incomplete)) || parts.length === 0) refuseSession('parts_missing', [''], missing)
  await inTransaction(ctx, (inside) =>
    settleRecording(inside, media.id, { declaredParts: segments, isStopped: session.idempotencyKey === null }),
  )
}

/** The first missing parts, at most MISSING_AT_ONCE: the client decides how many parts a recording claims to have. */
function findMissing(parts: { segment: number; number: number }[], segments: number[]): [segment: number, number: number][] {
  const arrivedParts = new Set(parts.map(({ segment, number }) => `${segment}/${number}`))
  const missing: [number, number][] = []
  for (const [segment, count] of segments.entries()) {
    for (let number = 0; number < count; number++) {
      if (arrivedParts.has(`${segment}/${number}`)) continue
      missing.push([segment, number])
      if (missing.length === MISSING_AT_ONCE) return missing
    }
  }
  return missing
}

/**
 * Abandons an attempt: it is no answer, but counts. Removes a file from the answer. After a part has arrived, only while the question is
 * open. Never for continuous captures.
 *
 * @throws DomainError session_refused: not_found, closed.
 */
export async function abandonRecording(session: PreparedSession, mediaId: string): Promise<void> {
  const media = await findRecording(session, mediaId)
  const { id, state } = media
  if (state === 'deleted') return
  if (media.fileName !== null) return removeFile(session, media)
  await inTransaction(session.ctx, async (inside) => {
    await lockRecording(inside, id)
    if ((await countParts(inside, id)) > 0 && !(await isOfOpenQuestion(inside, id))) refuseSession('closed')
    await discardRecording(inside, id)
  })
}

const isOfOpenQuestion = async (ctx: Context, mediaId: string): Promise<boolean> =>
  (await findOpenQuestionOf(ctx, mediaId)) !== null

async function findOpenQuestionOf({ db, deps, organization }: Context, mediaId: string): Promise<SubmissionQuestion | null> {
  const organizationId = organization.id
  const question = await db.submissionQuestion.findFirst({
    where: { organizationId, attempts: { some: { organizationId, mediaId } } },
  })
  return question && isQuestionOpen(question, deps.clock()) ? question : null
}

/** A recording that the candidate can play: an attempt at the open question. @throws DomainError session_refused (not_found). */
export async function findPlayableAttempt(session: PreparedSession, mediaId: string): Promise<MediaFile> {
  const media = await findRecording(session, mediaId)
  const isShown = media.kind === 'answer' && media.state === 'ready' && session.invite.status === 'started'
  return isShown && (await isOfOpenQuestion(session.ctx, media.id)) ? media : refuseSession('not_found')
}

/** @throws DomainError session_refused (not_found). */
async function findRecording({ ctx, submission }: PreparedSession, mediaId: string): Promise<MediaFile> {
  const kinds = { in: ['answer' as const, ...CAPTURES] }
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, id: mediaId, kind: kinds }
  const media = isUuid(mediaId) ? await ctx.db.mediaFile.findFirst({ where }) : null
  return media ?? refuseSession('not_found')
}
