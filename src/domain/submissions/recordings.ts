import { Prisma, type TakeKind } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { UPLOAD_GRACE_SECONDS } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../uuid.ts'
import { type Media, newMedia } from './media.ts'
import { isOpen, type PaperQuestion } from './paper.ts'
import { refuseWithoutRoom } from './quotas.ts'
import { refuseSession } from './refusals.ts'
import { type PreparedSession, refuseUnlessWritable, requireInProgress, writableBy } from './session.ts'

/** Of the parts that are missing so many are named. */
const MISSING_AT_ONCE = 1_000

/** How an answer is recorded, and what is recorded all the time. */
export const RECORDED_KINDS = ['audio', 'video'] as const satisfies TakeKind[]
export type RecordedKind = (typeof RECORDED_KINDS)[number]
export const CAPTURES = ['screen', 'webcam'] as const
export type Capture = (typeof CAPTURES)[number]

export type BegunTake = { takeId: string; mediaId: string; takesLeft: number }

/**
 * Begins an attempt at a recorded answer. It counts from now on, whatever becomes of it; the attempt before ends.
 *
 * @throws DomainError session_refused: closed (the question is not open, or answered otherwise), submitted, taken_over, no_takes_left, quota.
 */
export async function beginTake(session: PreparedSession, number: number, kind: RecordedKind): Promise<BegunTake> {
  requireInProgress(session)
  const { ctx, submission } = session
  await refuseWithoutRoom(ctx)
  return inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await holdSubmission({ ...session, ctx: inside })
    const question = await holdQuestion(inside, submission.id, number)
    if (!question || !isOpen(question, deps.clock()) || !takes(question, kind)) return refuseSession('closed')
    const own = { organizationId: organization.id, submissionId: submission.id }
    const begun = await db.take.count({ where: { ...own, questionNumber: number, kind: { in: [...RECORDED_KINDS] } } })
    if (begun >= submission.answerRecordLimit) refuseSession('no_takes_left')
    await completeOpenRecordings(inside, submission.id, number)
    const media = newMedia(inside, submission.id, 'answer')
    await db.media.create({ data: media })
    const take = { ...own, id: deps.newId(), questionNumber: number, kind, state: 'recording', mediaId: media.id } as const
    await db.take.create({ data: { ...take, createdAt: media.createdAt } })
    return { takeId: take.id, mediaId: media.id, takesLeft: submission.answerRecordLimit - begun - 1 }
  })
}

/** The question, locked, so that attempts at it are begun one after the other. */
async function holdQuestion({ db, organization }: Context, submissionId: string, number: number): Promise<PaperQuestion | null> {
  const where = { organizationId: organization.id, submissionId, number }
  await db.$queryRaw`
    SELECT number FROM paper_questions
    WHERE organization_id = ${organization.id}::uuid AND submission_id = ${submissionId}::uuid AND number = ${number} FOR NO KEY UPDATE`
  return db.paperQuestion.findFirst({ where })
}

const takes = ({ responseType }: PaperQuestion, kind: RecordedKind): boolean => responseType === kind || responseType === 'mixed'

/**
 * Begins to record the screen or the webcam. There is one of a kind at a time: another that was going on is complete with what is there.
 *
 * @throws DomainError session_refused: closed, where the candidate has not agreed to it as well; submitted, taken_over, quota.
 */
export async function beginCapture(session: PreparedSession, kind: Capture): Promise<{ mediaId: string }> {
  requireInProgress(session)
  const { ctx, submission } = session
  if (!submission.consentMedia.includes(kind === 'screen' ? 'screen' : 'camera')) refuseSession('closed')
  await refuseWithoutRoom(ctx)
  const { mediaId, before } = await inTransaction(ctx, async (inside) => {
    const { db, organization } = inside
    await holdSubmission({ ...session, ctx: inside })
    const before = await db.media.findMany({
      where: { organizationId: organization.id, submissionId: submission.id, kind, state: 'uploading' },
      select: { id: true },
    })
    const media = newMedia(inside, submission.id, kind)
    await db.media.create({ data: media })
    return { mediaId: media.id, before }
  })
  // Afterwards, because recordings are locked before submissions, see putPart.
  for (const { id } of before) await inTransaction(ctx, (inside) => settleRecording(inside, id))
  return { mediaId }
}

/** Locks the submission, so that of several at once each knows what the one before has begun. @throws as {@link refuseUnlessWritable}. */
async function holdSubmission(session: PreparedSession): Promise<void> {
  const { ctx, submission } = session
  const held = await ctx.db.$queryRaw<object[]>`
    SELECT s.id FROM submissions s
    WHERE s.organization_id = ${ctx.organization.id}::uuid AND s.id = ${submission.id}::uuid AND ${writableBy(session)}
    FOR NO KEY UPDATE`
  if (held.length === 0) await refuseUnlessWritable(session)
}

/** @param segments how many parts each has. @param incomplete those that are missing will not come. */
export type Completion = { segments: number[]; incomplete?: boolean }

/**
 * Completes a recording all of whose parts are there, or all that will come: it becomes one file soon. Once more changes nothing.
 *
 * @throws DomainError session_refused: not_found; parts_missing, with those, also where there is nothing; closed for one that was abandoned.
 */
export async function completeRecording(
  session: PreparedSession,
  mediaId: string,
  { segments, incomplete = false }: Completion,
): Promise<void> {
  const { ctx } = session
  const media = await findRecording(session, mediaId)
  if (media.state === 'deleted') refuseSession('closed')
  if (media.state !== 'uploading') return
  const parts = await ctx.db.mediaPart.findMany({
    where: { organizationId: ctx.organization.id, mediaId: media.id },
    select: { segment: true, number: true },
  })
  const missing = findMissing(parts, segments)
  if ((missing.length > 0 && !incomplete) || parts.length === 0) refuseSession('parts_missing', [''], missing)
  await inTransaction(ctx, (inside) => settleRecording(inside, media.id, segments))
}

/** The first that are missing, some at a time: how many there are said to be is up to whoever asks. */
function findMissing(parts: { segment: number; number: number }[], segments: number[]): [segment: number, number: number][] {
  const known = new Set(parts.map(({ segment, number }) => `${segment}/${number}`))
  const missing: [number, number][] = []
  for (const [segment, count] of segments.entries()) {
    for (let number = 0; number < count; number++) {
      if (known.has(`${segment}/${number}`)) continue
      missing.push([segment, number])
      if (missing.length === MISSING_AT_ONCE) return missing
    }
  }
  return missing
}

/**
 * Gives up an attempt: it is no answer, and counts as one of those that there are. Once something has arrived this can only be done while
 * the question is open; and never of what is recorded all the time.
 *
 * @throws DomainError session_refused: not_found, closed.
 */
export async function abandonRecording(session: PreparedSession, mediaId: string): Promise<void> {
  const { id, state } = await findRecording(session, mediaId)
  if (state === 'deleted') return
  await inTransaction(session.ctx, async (inside) => {
    await holdRecording(inside, id)
    if ((await countParts(inside, id)) > 0 && !(await isOfOpenQuestion(inside, id))) refuseSession('closed')
    await abandon(inside, id)
  })
}

async function isOfOpenQuestion({ db, deps, organization }: Context, mediaId: string): Promise<boolean> {
  const organizationId = organization.id
  const question = await db.paperQuestion.findFirst({ where: { organizationId, takes: { some: { organizationId, mediaId } } } })
  return question !== null && isOpen(question, deps.clock())
}

const countParts = ({ db, organization }: Context, mediaId: string): Promise<number> =>
  db.mediaPart.count({ where: { organizationId: organization.id, mediaId } })

/** @throws DomainError session_refused (not_found). */
async function findRecording({ ctx, submission }: PreparedSession, mediaId: string): Promise<Media> {
  const kinds = { in: ['answer' as const, ...CAPTURES] }
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, id: mediaId, kind: kinds }
  const media = isUuid(mediaId) ? await ctx.db.media.findFirst({ where }) : null
  return media ?? refuseSession('not_found')
}

/**
 * Ends the attempts that are still going on, of one question or of all: those of which something has arrived are answers from now on. What
 * was recorded in time may arrive for a while yet, so that the rest is left to {@link settleOverdueRecordings}: they have ended now all the
 * same, before any attempt that begins later.
 */
export async function completeOpenRecordings(
  { db, deps, organization }: Context,
  submissionId: string,
  number?: number,
): Promise<void> {
  const ofQuestion = number === undefined ? Prisma.empty : Prisma.sql`AND t.question_number = ${number}`
  await db.$executeRaw`
    UPDATE takes t SET completed_at = COALESCE(t.completed_at, ${deps.clock()}),
      state = CASE WHEN EXISTS (
        SELECT FROM media_parts p WHERE p.organization_id = t.organization_id AND p.media_id = t.media_id
      ) THEN 'complete'::take_state ELSE t.state END
    WHERE t.organization_id = ${organization.id}::uuid AND t.submission_id = ${submissionId}::uuid ${ofQuestion} AND t.state = 'recording'`
}

/**
 * Ends a recording in the open transaction with what is there: to be joined or, of which nothing has arrived, abandoned.
 *
 * @param toldParts how many parts each segment has, where the browser has said so.
 */
async function settleRecording(ctx: Context, mediaId: string, toldParts: number[] = []): Promise<void> {
  const { db, deps, organization } = ctx
  const organizationId = organization.id
  await holdRecording(ctx, mediaId)
  if ((await countParts(ctx, mediaId)) === 0) return abandon(ctx, mediaId)
  const completedAt = deps.clock()
  const { count } = await db.media.updateMany({
    where: { organizationId, id: mediaId, state: 'uploading' },
    data: { state: 'joining', completedAt, toldParts },
  })
  if (count === 0) return
  await db.$executeRaw`
    UPDATE takes SET state = 'complete', completed_at = COALESCE(completed_at, ${completedAt})
    WHERE organization_id = ${organizationId}::uuid AND media_id = ${mediaId}::uuid AND state = 'recording'`
  await deps.queue.enqueueRecording(db, mediaId)
}

/** Locks a recording: a part that is being taken is known by then, or is refused. */
const holdRecording = ({ db, organization }: Context, mediaId: string): Promise<unknown> =>
  db.$queryRaw`SELECT id FROM media WHERE organization_id = ${organization.id}::uuid AND id = ${mediaId}::uuid FOR NO KEY UPDATE`

/** Its files go with the next sweep. */
async function abandon({ db, deps, organization }: Context, mediaId: string): Promise<void> {
  const organizationId = organization.id
  const deleted = { state: 'deleted', deletedAt: deps.clock() } as const
  const { count } = await db.media.updateMany({ where: { organizationId, id: mediaId, state: 'uploading' }, data: deleted })
  if (count > 0) await db.take.updateMany({ where: { organizationId, mediaId }, data: { state: 'abandoned', completedAt: null } })
}

/** For so long a recording without an end may rest: its candidate may come back, and send what the browser has kept. */
const REST_MS = 24 * 3_600_000
const SETTLED_AT_ONCE = 200

type Overdue = { mediaId: string } & Context['organization']

/**
 * Ends the recordings, of all organizations, for which nothing more is taken: their time and that of uploading is over, or nothing has come
 * for a day. For the scheduled sweep.
 *
 * @returns how many.
 */
export async function settleOverdueRecordings(system: ServiceContext): Promise<number> {
  for (let settled = 0; ; ) {
    const overdue = await findOverdue(system)
    for (const { mediaId, ...organization } of overdue)
      await inTransaction({ ...system, organization }, (inside) => settleRecording(inside, mediaId))
    settled += overdue.length
    if (overdue.length < SETTLED_AT_ONCE) return settled
  }
}

function findOverdue({ db, deps }: ServiceContext): Promise<Overdue[]> {
  const now = deps.clock().getTime()
  const ended = new Date(now - UPLOAD_GRACE_SECONDS * 1_000)
  const rested = new Date(now - REST_MS)
  return db.$queryRaw<Overdue[]>`
    SELECT m.id AS "mediaId", o.id, o.name, o.tier
    FROM media m
    JOIN organizations o ON o.id = m.organization_id
    JOIN submissions s ON s.organization_id = m.organization_id AND s.id = m.submission_id
    LEFT JOIN takes t ON t.organization_id = m.organization_id AND t.media_id = m.id
    LEFT JOIN paper_questions q
      ON q.organization_id = t.organization_id AND q.submission_id = t.submission_id AND q.number = t.question_number
    WHERE m.state = 'uploading' AND m.kind IN ('answer', 'webcam', 'screen') AND (
      LEAST(q.closed_at, q.closes_at, s.submitted_at, s.deadline_at) <= ${ended}
      OR GREATEST(m.created_at, (
        SELECT max(p.created_at) FROM media_parts p WHERE p.organization_id = m.organization_id AND p.media_id = m.id
      )) <= ${rested}
    )
    ORDER BY m.created_at LIMIT ${SETTLED_AT_ONCE}`
}
