import type { SubmissionQuestion } from '../../../generated/prisma/client.ts'
import { isSimultaneous } from '../../assessments/simultaneous.ts'
import { assetIdIn } from '../../assets/references.ts'
import type { Context } from '../../context.ts'
import { countSegments } from '../media/settle-recordings.ts'
import { findPublishedCaptions } from '../transcripts/captions.ts'
import { playLimitOf } from './attempt-limits.ts'
import { attemptOnce } from './attempt-once.ts'
import { IS_INTERRUPTED } from './interrupted-attempt.ts'
import { findOpenQuestion, isOpenAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
import { lockSubmission, type PreparedSession } from './session.ts'

/**
 * @property own link for media stored by the service, valid for one play; null for external media. @property captions null: none, or a
 *   simultaneous question, where the candidate has to listen.
 */
export type GrantedPlay = {
  playsLeft: number
  grantedPlay: { play: number; expiresAt: Date } | null
  captions: Awaited<ReturnType<typeof findPublishedCaptions>>
}

/** Added to one and a half times the length, for late starts and slow connections. */
const PLAY_GRACE_MS = 60_000

/**
 * Grants one play of a question's prompt, once per idempotency key. The browser asks when the media file is ready, so that failed loading costs
 * no play. Media of the service only load with the grant; a grant whose link was never used costs none. The prompt of a simultaneous
 * question plays while the answer is recorded, so it is granted only before that, and once more after an interruption.
 *
 * @throws DomainError session_refused: no_plays_left, closed, submitted, taken_over; as {@link attemptOnce}.
 */
export async function grantPlay(session: PreparedSession, number: number): Promise<GrantedPlay> {
  const { submission } = session
  const { playsLeft } = await attemptOnce(session, `play ${number}`, async (inside) => {
    const insideSession = { ...session, ctx: inside }
    await lockSubmission(insideSession)
    const question = await findOpenQuestion(insideSession, number)
    if (!question) return refuseSession('closed')
    const limit = playLimitOf(question, submission)
    if (isSimultaneous(question)) await requireUnrecorded(insideSession, number)
    if (ownMedia(question).length > 0 && question.plays > 0 && question.playUsedAt === null)
      return { playsLeft: limit - question.plays }
    const played = inside.db
      .updateTable('submissionQuestions')
      .where('submissionQuestions.submissionId', '=', submission.id)
      .where('submissionQuestions.number', '=', number)
      .where((eb) => isOpenAt(eb, inside.deps.clock()))
      .where('submissionQuestions.plays', '<', limit)
      .set((eb) => ({ plays: eb('submissionQuestions.plays', '+', 1), playUsedAt: null }))
    const granted = await played.returning('submissionQuestions.plays').executeTakeFirst()
    return granted ? { playsLeft: limit - granted.plays } : refuseSession('no_plays_left')
  })
  const { ctx } = session
  const question = await ctx.db.submissionQuestion.findFirst({
    where: { organizationId: ctx.organization.id, submissionId: submission.id, number },
  })
  const media = question ? ownMedia(question) : []
  if (media.length === 0) return { playsLeft, grantedPlay: null, captions: null }
  const goodFor = 1.5 * (await readLength(ctx, media)) + PLAY_GRACE_MS
  return {
    playsLeft,
    grantedPlay: {
      play: playLimitOf(question!, submission) - playsLeft,
      expiresAt: new Date(ctx.deps.clock().getTime() + goodFor),
    },
    captions: isSimultaneous(question!) ? null : await findPublishedCaptions(ctx, media),
  }
}

/** @throws DomainError session_refused (no_plays_left) unless an attempt was begun or continued and has recorded nothing since. */
async function requireUnrecorded({ ctx, submission }: PreparedSession, questionNumber: number): Promise<void> {
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, questionNumber, ...IS_INTERRUPTED }
  const attempt = await ctx.db.answerAttempt.findFirst({ where })
  if (!attempt?.mediaId) return refuseSession('no_plays_left')
  const recorded = await countSegments(ctx, attempt.mediaId)
  if (recorded > 1 || (recorded === 1 && attempt.interruptions === 0)) refuseSession('no_plays_left')
}

const ownMedia = ({ audioUrl, videoUrl }: Pick<SubmissionQuestion, 'audioUrl' | 'videoUrl'>): string[] =>
  [audioUrl, videoUrl].map(assetIdIn).filter((id) => id !== null)

/** Milliseconds of the longest. */
async function readLength({ db, organization }: Context, ids: string[]): Promise<number> {
  const where = { organizationId: organization.id, id: { in: ids } }
  const { _max } = await db.asset.aggregate({ where, _max: { milliseconds: true } })
  return _max.milliseconds ?? 0
}
