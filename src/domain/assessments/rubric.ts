import { isDeepStrictEqual } from 'node:util'
import type { Issue } from '../errors.ts'
import { checkName, checkText } from '../validation/checks.ts'

/** @property points in steps of 0.5. */
export type RubricLevel = { text: string; points: number }
/** One criterion with its levels, from the lowest to the highest as the author wrote them. */
export type Criterion = { name: string; levels: RubricLevel[] }
/** Criteria by which graders give the points of a question. The best level of each makes the question's points. */
export type Rubric = Criterion[]

export const MAX_CRITERIA = 10
export const MIN_LEVELS = 2
/** Graders choose levels by the keys 1 to 6. */
export const MAX_LEVELS = 6
const MAX_CRITERION_LENGTH = 100
const MAX_LEVEL_LENGTH = 300
/** Keeps the sum of ten criteria far below the largest integer. */
const MAX_LEVEL_POINTS = 10_000

export const bestPointsOf = ({ levels }: Criterion): number => Math.max(0, ...levels.map(({ points }) => points))

/** Points of a question with this rubric. */
export const maximumOf = (rubric: Rubric): number => rubric.reduce((sum, criterion) => sum + bestPointsOf(criterion), 0)

/** Points of the chosen levels; null until every criterion has one. @param levels from 1; 0: none chosen. */
export function pointsOf(rubric: Rubric, levels: readonly number[]): number | null {
  const chosen = rubric.map((criterion, i) => criterion.levels[(levels[i] ?? 0) - 1]?.points)
  return chosen.every((points) => points !== undefined) ? chosen.reduce((sum, points) => sum + points, 0) : null
}

/** True if both differ in words only, so that levels chosen by one mean the same by the other. */
export const hasSamePoints = (one: Rubric, other: Rubric): boolean => isDeepStrictEqual(pointsIn(one), pointsIn(other))

const pointsIn = (rubric: Rubric): number[][] => rubric.map(({ levels }) => levels.map(({ points }) => points))

/** The rules of a rubric, and of the points of its question. */
export function findRubricIssues({ rubric, points }: { rubric: Rubric | null; points: number }): Issue[] {
  if (rubric === null) return []
  const faults = [
    rubric.length === 0 && 'Add a criterion.',
    rubric.length > MAX_CRITERIA && `A rubric has at most ${MAX_CRITERIA} criteria.`,
    ...rubric.flatMap((criterion, i) => findFaults(criterion, `Criterion ${i + 1}`)),
  ].filter((fault) => typeof fault === 'string')
  if (faults.length > 0) return [createIssue('rubric', faults.join(' '))]
  const best = maximumOf(rubric)
  if (!Number.isInteger(best)) return [createIssue('rubric', `The best levels make ${best} points. Make that a whole number.`)]
  return points === best ? [] : [createIssue('points', `The best levels of the rubric make ${best} points.`)]
}

const createIssue = (field: string, text: string): Issue => ({ field, rule: 'malformed', text })

const findFaults = ({ name, levels }: Criterion, place: string): (string | false)[] => [
  checkName(name, MAX_CRITERION_LENGTH) !== undefined && `${place} needs a name of at most ${MAX_CRITERION_LENGTH} characters.`,
  (levels.length < MIN_LEVELS || levels.length > MAX_LEVELS) &&
    `${place} needs ${MIN_LEVELS} to ${MAX_LEVELS} levels, each with points.`,
  levels.some(({ text }) => checkText(text, MAX_LEVEL_LENGTH) !== undefined) &&
    `${place} has a level with more than ${MAX_LEVEL_LENGTH} characters.`,
  !levels.every(({ points }) => Number.isInteger(points * 2) && points >= 0 && points <= MAX_LEVEL_POINTS) &&
    `${place} needs points from 0 to ${MAX_LEVEL_POINTS.toLocaleString('en')} in steps of 0.5.`,
  levels.length > 0 && bestPointsOf({ name, levels }) === 0 && `${place} needs a level that gives points.`,
]
