import type { Context } from '../../context.ts'
import type { Affected } from './affected.ts'
import type { Releases } from './correct-key.ts'
import { type Corrected, type Judged, judge } from './judge.ts'

/**
 * Of a paper that has the version twice, the second is judged by the result that the first makes. What is not released anew makes none: the
 * total is always that of the grades that are released.
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

/** Whether the result says something else then, and may. */
export const isReleasedAnew = ({ release, verdict }: Judged, releases: Releases): boolean =>
  release !== null && (releases === 'all' || verdict === 'more')
