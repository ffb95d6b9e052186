import type { SubmissionQuestion } from '../../../generated/prisma/client.ts'
import { assetIdIn } from '../../assets/references.ts'
import type { Context } from '../../context.ts'
import { attemptOnce } from './attempt-once.ts'
import { findOpenQuestion, isOpenAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
import { lockSubmission, type PreparedSession } from './session.ts'

/** @property own what of the question lies with us is played by a link, once and until then; null: nothing does. */
export type GrantedPlay = { playsLeft: number; own: { play: number; expiresAt: Date } | null }

/** Beyond one and a half times its length: for who begins late, and for slow lines. */
const PLAY_GRACE_MS = 60_000

/**
 * Grants one playing of a question's prompt, once for an attempt. The browser asks when it has the medium and could play it, so that one
 * that can't be loaded costs none. What lies with us it gets by the grant alone: there one whose link was never used costs none.
 *
 * @throws DomainError session_refused: no_plays_left, closed, submitted, taken_over; as {@link attemptOnce}.
 */
export async function grantPlay(session: PreparedSession, number: number): Promise<GrantedPlay> {
  const { submission } = session
  const limit = submission.questionReplayLimit
  const { playsLeft } = await attemptOnce(session, `play ${number}`, async (inside) => {
    const insideSession = { ...session, ctx: inside }
    await lockSubmission(insideSession)
    const question = await findOpenQuestion(insideSession, number)
    if (!question) return refuseSession('closed')
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
  if (media.length === 0) return { playsLeft, own: null }
  const goodFor = 1.5 * (await readLength(ctx, media)) + PLAY_GRACE_MS
  return { playsLeft, own: { play: limit - playsLeft, expiresAt: new Date(ctx.deps.clock().getTime() + goodFor) } }
}

const ownMedia = ({ audioUrl, videoUrl }: Pick<SubmissionQuestion, 'audioUrl' | 'videoUrl'>): string[] =>
  [audioUrl, videoUrl].map(assetIdIn).filter((id) => id !== null)

/** Milliseconds of the longest. */
async function readLength({ db, organization }: Context, ids: string[]): Promise<number> {
  const where = { organizationId: organization.id, id: { in: ids } }
  const { _max } = await db.asset.aggregate({ where, _max: { milliseconds: true } })
  return _max.milliseconds ?? 0
}
