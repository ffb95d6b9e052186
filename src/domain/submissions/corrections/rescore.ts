import type { KeyEffect } from '../../assessments/answer-keys.ts'
import type { Context } from '../../context.ts'
import { gradingStatusOf, isByPeople } from '../grading/grading-status.ts'
import type { ReleasedGrade } from '../grading/release-result.ts'
import { type AnswerScore, scoreAnswer } from '../scores.ts'
import type { AffectedAnswer } from './affected.ts'

/** Version with its corrected key. */
export type CorrectedVersion = {
  versionId: string
  responseType: string
  spec: unknown
  key: unknown
  effect: KeyEffect
  keyNumber: number
}

/**
 * Effect of a corrected key on an answer: more, fewer, or the same points; `open`: a person has to grade it now; `uncounted`: no
 * longer counted in an unreleased result; `decided`: a person's points stay.
 */
export type CorrectionEffect = 'more' | 'less' | 'same' | 'open' | 'uncounted' | 'decided'

/** @property release contents of a new release; null if it would not differ, or if nothing was released yet. */
export type RescoredAnswer = {
  answer: AffectedAnswer
  score: AnswerScore
  verdict: CorrectionEffect
  release: { grade: ReleasedGrade; sum: number; ofPoints: number } | null
}

/** @returns undefined if the kind does not exist (any more). */
export function rescore(ctx: Context, answer: AffectedAnswer, corrected: CorrectedVersion): RescoredAnswer | undefined {
  const score = scoreAnswer(ctx, {
    ...corrected,
    points: answer.points,
    penaltyPercent: answer.penaltyPercent,
    value: answer.value,
  })
  if (!score) return undefined
  return {
    answer,
    score,
    ...(answer.released
      ? effectOnReleased(answer, score, corrected)
      : { verdict: effectOnUnreleased(answer, score), release: null }),
  }
}

function effectOnUnreleased(
  { points, scored, dropped, grades, secondGrader }: AffectedAnswer,
  score: AnswerScore,
): CorrectionEffect {
  if (points === 0) return 'same'
  if (isByPeople(gradingStatusOf({ points, scored, unanswered: false }, grades, { secondGrader }))) return 'decided'
  if (score.dropped) return dropped ? 'same' : 'uncounted'
  if (score.points === null) return scored === null && !dropped ? 'same' : 'open'
  const before = scored ?? 0
  return score.points > before ? 'more' : score.points < before ? 'less' : 'same'
}

function effectOnReleased(
  { number, points, released }: AffectedAnswer,
  score: AnswerScore,
  { keyNumber }: CorrectedVersion,
): Pick<RescoredAnswer, 'verdict' | 'release'> {
  const { grade, sum, ofPoints } = released!
  if (points === 0) return { verdict: 'same', release: null }
  if (grade.points !== null && grade.by !== 'key') return { verdict: 'decided', release: null }
  if (score.points === null && !score.dropped) return { verdict: 'open', release: null }
  const head = { number, comment: grade.comment, graderId: grade.graderId }
  const next: ReleasedGrade = score.dropped
    ? { ...head, points: null, ofPoints: 0 }
    : { ...head, points: score.points, ofPoints: points, by: 'key', keyNumber }
  if (next.points === grade.points && next.ofPoints === grade.ofPoints) return { verdict: 'same', release: null }
  const after = {
    sum: (tenths(sum) - tenths(grade.points) + tenths(next.points)) / 10,
    ofPoints: ofPoints - grade.ofPoints + next.ofPoints,
  }
  return { verdict: compareTotals({ sum, ofPoints }, after), release: { grade: next, ...after } }
}

/** In tenths, because 0.1 + 0.2 is not 0.3. */
const tenths = (points: number | null): number => Math.round((points ?? 0) * 10)

type Total = { sum: number; ofPoints: number }

/** Compares shares of the possible points, because dropping a question changes those. */
function compareTotals(before: Total, after: Total): CorrectionEffect {
  if (after.ofPoints === 0) return before.ofPoints === 0 ? 'same' : 'less'
  const [scaledAfter, scaledBefore] = [
    Math.max(0, tenths(after.sum)) * before.ofPoints,
    Math.max(0, tenths(before.sum)) * after.ofPoints,
  ]
  return scaledAfter > scaledBefore ? 'more' : scaledAfter < scaledBefore ? 'less' : 'same'
}

/** Numbers of answers by effect. `releasedMore` and the next two are parts of `released`; `releasedOpen` wait for a person's decision. */
export type CorrectionCounts = Record<CorrectionEffect, number> & {
  handedIn: number
  released: number
  releasedMore: number
  releasedLess: number
  releasedOpen: number
}

export const NO_COUNTS: CorrectionCounts = {
  handedIn: 0,
  more: 0,
  less: 0,
  same: 0,
  open: 0,
  uncounted: 0,
  decided: 0,
  released: 0,
  releasedMore: 0,
  releasedLess: 0,
  releasedOpen: 0,
}

/** Adds an answer. */
export function addToCounts(counts: CorrectionCounts, { answer, verdict }: RescoredAnswer): void {
  counts.handedIn++
  counts[verdict]++
  if (!answer.released) return
  counts.released++
  if (verdict === 'more') counts.releasedMore++
  if (verdict === 'less') counts.releasedLess++
  if (verdict === 'open') counts.releasedOpen++
}
