import { type Asset, findReadyAsset } from '../../assets/assets.ts'
import { assetIdIn } from '../../assets/references.ts'
import type { PlayLink } from '../../secrets/play-tokens.ts'
import { isOpenAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/** @property giveBack makes the link valid again if the response was interrupted. */
export type UsedPlay = { asset: Asset; giveBack: () => Promise<void> }

/**
 * Uses up the link of a granted play. It is valid in the tab that it was granted to, while the question is open and the link has not
 * expired.
 *
 * @param link null: invalid signature.
 * @param kind prompt of the question to play.
 * @throws DomainError session_refused (not_granted); media_not_found if it can't be played any more, or not yet.
 */
export async function usePlay(session: PreparedSession, link: PlayLink | null, kind: 'audio' | 'video'): Promise<UsedPlay> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  if (!link || link.submissionId !== submission.id || link.tab !== submission.tab || link.expiresAt <= now)
    return refuseSession('not_granted')
  const granted = ctx.db
    .updateTable('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submission.id)
    .where('submissionQuestions.number', '=', link.number)
    .where('submissionQuestions.plays', '=', link.play)
  const used = granted
    .where('submissionQuestions.playUsedAt', 'is', null)
    .where((eb) => isOpenAt(eb, now))
    .set({ playUsedAt: now })
  const question = await used.returning(['submissionQuestions.audioUrl', 'submissionQuestions.videoUrl']).executeTakeFirst()
  if (!question) return refuseSession('not_granted')
  const giveBack = async () => {
    await granted.set({ playUsedAt: null }).returning('submissionQuestions.number').executeTakeFirst()
  }
  try {
    const id = assetIdIn(kind === 'audio' ? question.audioUrl : question.videoUrl)
    return { asset: await findReadyAsset(ctx, id ?? ''), giveBack }
  } catch (error) {
    await giveBack()
    throw error
  }
}
