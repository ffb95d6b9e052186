import { shuffle } from '../lists/shuffle.ts'
import type { Random } from '../ports/question-kind.ts'

/** Data of a question that decide whether and where a candidate gets it. @property draw number of questions to draw from its pool. */
export type DrawableQuestion = {
  id: string
  sectionId: string | null
  poolId: string | null
  draw: number | null
  shuffle: boolean | null
}

/** @property number place in the paper, from 1. @property sectionNumber from 1; null: it has no section. */
export type DrawnQuestion = { id: string; number: number; sectionNumber: number | null }

/**
 * Draws a candidate's paper: some questions of each pool, and the questions of a shuffled section in a random order.
 *
 * @param questions in the author's order, section by section. @param askedIds questions that the candidate has seen before: a pool gives them
 *   last.
 */
export function drawQuestions(
  questions: readonly DrawableQuestion[],
  random: Random,
  askedIds: ReadonlySet<string> = new Set(),
): DrawnQuestion[] {
  const pools = Map.groupBy(
    questions.filter(({ poolId }) => poolId !== null),
    ({ poolId }) => poolId,
  )
  const drawn = new Set(
    [...pools.values()].flatMap((members) => {
      const shuffled = shuffle(members, random)
      const unseenFirst = [...shuffled.filter(({ id }) => !askedIds.has(id)), ...shuffled.filter(({ id }) => askedIds.has(id))]
      return unseenFirst.slice(0, members[0]!.draw ?? members.length)
    }),
  )
  const paperQuestions = questions.filter((question) => question.poolId === null || drawn.has(question))
  const sections = [...Map.groupBy(paperQuestions, ({ sectionId }) => sectionId)]
  let sectionNumber = 0
  const placed = sections.flatMap(([sectionId, members]) => {
    if (sectionId !== null) sectionNumber++
    const ordered = members[0]!.shuffle ? shuffle(members, random) : members
    return ordered.map(({ id }) => ({ id, sectionNumber: sectionId === null ? null : sectionNumber }))
  })
  return placed.map((question, i) => ({ ...question, number: i + 1 }))
}
