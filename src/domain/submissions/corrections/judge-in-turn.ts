import type { Context } from '../../context.ts'
import type { Affected } from './affected.ts'
import type { Releases } from './correct-key.ts'
import { type Corrected, type Judged, judge } from './judge.ts'

/**
 * Judges a paper that has the version twice: the second occurrence builds on the first one's result. A result that is not
 * released again stays, so totals always match released grades.
 *
 * @param affected those of a paper one after the other.
 */
export function judgeInTurn(ctx: Context, affected: readonly Affected[], corrected: Corrected, releases: Releases): Judged[] {
  const totals = new Map<string, { sum: number; ofPoints: number }>()
  return affected.flatMap((one) => {
    const total = totals.get(one.submissionId)
    const judged = judge(ctx, { ...one, released: one.released && { ...one.released, ...total } }, corrected)
    if (judged?.release && isReleasedAnew(judged, releases)) {
      const { sum, ofPoints } = judged.release
      totals.set(one.submissionId, { sum, ofPoints })
    }
    return judged ?? []
  })
}

/** True if the released result changes, and may. */
export const isReleasedAnew = ({ release, verdict }: Judged, releases: Releases): boolean =>
  release !== null && (releases === 'all' || verdict === 'more')
