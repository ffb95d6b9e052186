import type { Gradable } from '../scores.ts'
import { ROUNDS, type Round } from './rounds.ts'

/** What counts of the grades that an answer was given. */

/** Two graders' points may be as far apart as one part of so many of the question's: 20 percent. */
const AGREEMENT = 5

export type GradeRow = { questionNumber: number; round: Round; graderId: string; points: number | null; comment: string }
/** Source of the points: the last grade of one grader, the mean of two graders, an admin's decision, the answer key, or 0 for no answer. */
export type Source = 'grader' | 'both' | 'admin' | 'key' | 'no_answer'
export type Standing =
  /** Somebody has yet to give points. */
  | { state: 'ungraded' }
  /** Two graders' points are too far apart. */
  | { state: 'undecided' }
  | { state: 'graded'; points: number; comment: string; graderId: string | null; by: Source }

/**
 * What counts for a question. What the key gives, unless people have given points. Of one grader: the last grade, whoever has given it. Of two: an admin's decision; else the mean of both
 * graders' points, to the nearest half, where they are close. Points that come without a comment leave those that there are. Of a
 * question without points only the comments are kept.
 *
 * @param grades of the question, oldest first: of each round the last counts.
 */
export function standingOf(
  question: Pick<Gradable, 'points' | 'scored' | 'unanswered'>,
  grades: readonly GradeRow[],
  { secondGrader }: { secondGrader: boolean },
): Standing {
  if (question.points === 0) return commented(secondGrader ? ROUNDS.map((round) => inRound(grades, round)) : [grades])
  if (!secondGrader) {
    const last = lastOf(grades)
    return last ? graded(last, last.points, last.comment || lastComment(grades), 'grader') : byItself(question, grades)
  }
  const decision = lastOf(inRound(grades, 3))
  if (decision) return graded(decision, decision.points, decision.comment || keptComment(grades), 'admin')
  const both = findBoth(grades)
  if (!both) return byItself(question, grades)
  const [first, second] = both
  if (Math.abs(first.points - second.points) * AGREEMENT > question.points) return { state: 'undecided' }
  return graded(first, Math.round(first.points + second.points) / 2, joinComments(both), 'both')
}

/** Nobody has given points: those of the key count, or 0 where there is no answer, with what people have said. */
function byItself({ scored, unanswered }: Pick<Gradable, 'scored' | 'unanswered'>, grades: readonly GradeRow[]): Standing {
  if (scored === null && !unanswered) return { state: 'ungraded' }
  const by = scored === null ? 'no_answer' : 'key'
  return { state: 'graded', points: scored ?? 0, comment: lastComment(grades), graderId: null, by }
}

type WithPoints = GradeRow & { points: number }

const inRound = (grades: readonly GradeRow[], round: Round): GradeRow[] => grades.filter((grade) => grade.round === round)

/** The grades of the two graders. Whoever was the first grader before they became the second does not agree with themselves. */
function findBoth(grades: readonly GradeRow[]): [WithPoints, WithPoints] | null {
  const first = lastOf(inRound(grades, 1))
  const second = first && lastOf(inRound(grades, 2).filter(({ graderId }) => graderId !== first.graderId))
  return first && second ? [first, second] : null
}

/** The last grade that gives points; of each grader only the newest stands, so that points, and a comment, can be taken back. */
const lastOf = (grades: readonly GradeRow[]): WithPoints | undefined =>
  newestOfEach(grades).findLast((grade): grade is WithPoints => grade.points !== null)

function newestOfEach(grades: readonly GradeRow[]): GradeRow[] {
  const newest = new Map(grades.map((grade) => [grade.graderId, grade]))
  return grades.filter((grade) => newest.get(grade.graderId) === grade)
}

/** What the admins said last, else both graders. */
const keptComment = (grades: readonly GradeRow[]): string =>
  lastComment(inRound(grades, 3)) || [1, 2].flatMap((round) => lastComment(inRound(grades, round as Round)) || []).join('\n\n')

const lastComment = (grades: readonly GradeRow[]): string => lastCommented(grades)?.comment ?? ''

const lastCommented = (grades: readonly GradeRow[]): GradeRow | undefined =>
  newestOfEach(grades).findLast(({ comment }) => comment !== '')

function commented(rounds: (readonly GradeRow[])[]): Standing {
  const last = rounds.flatMap((grades) => lastCommented(grades) ?? [])
  const [first] = last
  return first ? graded(first, 0, joinComments(last), 'grader') : { state: 'ungraded' }
}

const joinComments = (grades: readonly GradeRow[]): string =>
  grades.flatMap(({ comment }) => (comment === '' ? [] : [comment])).join('\n\n')

const graded = ({ graderId }: GradeRow, points: number, comment: string, by: Source): Standing => ({
  state: 'graded',
  points,
  comment,
  graderId,
  by,
})

export type Counted<Q> = Q & { standing: Standing }

/** Whether people have given points, agreed or not. */
export const isByPeople = (standing: Standing): boolean =>
  standing.state === 'undecided' || (standing.state === 'graded' && standing.by !== 'key' && standing.by !== 'no_answer')

/** What counts for each question of a paper. Those without points need no grades. */
export function countGrades<Q extends Gradable>(
  paper: readonly Q[],
  grades: readonly GradeRow[],
  terms: { secondGrader: boolean },
): Counted<Q>[] {
  const byQuestion = Map.groupBy(grades, ({ questionNumber }) => questionNumber)
  return paper.map((question) => {
    const given = byQuestion.get(question.number) ?? []
    const standing = standingOf(question, given, terms)
    // What a person has decided stands; else a question that is not counted is one without points.
    if (!question.dropped || isByPeople(standing)) return { ...question, standing }
    const uncounted = { ...question, points: 0 }
    return { ...uncounted, standing: standingOf(uncounted, given, terms) }
  })
}

/** Points in all, of how many, and the question that stands in the way of a result; null: none does. */
export function sumUp(questions: readonly Counted<{ number: number; points: number }>[]) {
  const counting = questions.filter(({ points }) => points > 0)
  const tenths = counting.reduce(
    (sum, { standing }) => sum + (standing.state === 'graded' ? Math.round(standing.points * 10) : 0),
    0,
  )
  // What wrong answers cost is taken from what others give, and no further. In tenths, because 0.1 + 0.2 is not 0.3.
  const points = Math.max(0, tenths) / 10
  const ofPoints = counting.reduce((sum, question) => sum + question.points, 0)
  return { points, ofPoints, missing: counting.find(({ standing }) => standing.state !== 'graded') ?? null }
}

/** What counts, question by question, as one text: whether two readings have the same. */
export const pointsIn = (questions: readonly Counted<unknown>[]): string =>
  questions.map(({ standing }) => (standing.state === 'graded' ? standing.points : standing.state)).join(' ')

/** Of the points there are those that were given, in percent: a whole number; null where there are none. */
export const percentOf = (points: number, ofPoints: number): number | null =>
  ofPoints === 0 ? null : Math.round((points * 100) / ofPoints)

/** As {@link percentOf}, to two decimals: for programs, which may want to compare results. */
export const exactPercentOf = (points: number, ofPoints: number): number | null =>
  ofPoints === 0 ? null : Math.round((points * 10_000) / ofPoints) / 100

/** Whether both graders have given points for every question that has any, but for what its key scores, and what has no answer. */
export function haveBothGraded(paper: readonly Gradable[], grades: readonly GradeRow[]): boolean {
  const byQuestion = Map.groupBy(grades, ({ questionNumber }) => questionNumber)
  return paper.every(
    ({ number, points, scored, dropped, unanswered }) =>
      points === 0 || dropped || unanswered || scored !== null || findBoth(byQuestion.get(number) ?? []),
  )
}
