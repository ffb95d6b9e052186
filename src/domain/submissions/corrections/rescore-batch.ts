import type { Context } from '../../context.ts'
import type { AffectedAnswer } from './affected.ts'
import type { ReleaseHandling } from './correct-key.ts'
import { type CorrectedVersion, type RescoredAnswer, rescore } from './rescore.ts'

/**
 * Rescores answers. In a paper with the version twice, the second builds on the first one's result. Results that are not released again
 * stay, so totals always match released grades.
 *
 * @param affected ordered by paper.
 */
export function rescoreBatch(
  ctx: Context,
  affected: readonly AffectedAnswer[],
  corrected: CorrectedVersion,
  releases: ReleaseHandling,
): RescoredAnswer[] {
  const totals = new Map<string, { sum: number; ofPoints: number }>()
  return affected.flatMap((answer) => {
    const total = totals.get(answer.submissionId)
    const judged = rescore(ctx, { ...answer, released: answer.released && { ...answer.released, ...total } }, corrected)
    if (judged?.release && needsNewRelease(judged, releases)) {
      const { sum, ofPoints } = judged.release
      totals.set(answer.submissionId, { sum, ofPoints })
    }
    return judged ?? []
  })
}

/** True if the released result changes, and may. */
export const needsNewRelease = ({ release, verdict }: RescoredAnswer, releases: ReleaseHandling): boolean =>
  release !== null && (releases === 'all' || verdict === 'more')
