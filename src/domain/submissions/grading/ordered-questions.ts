import type { TenantDb } from '../../../db/tenant-db.ts'

// The questions of many papers. Each candidate has the paper of their start: a question keeps its id when it is changed or moved, and may
// be gone from the assessment since.

/** Question with its position in the current assessment, or, if it was removed, among the removed ones. From 1. */
export type OrderedQuestion<Q> = Q & { id: string; place: number; isRemoved: boolean }

/** `place` is that in the assessment, null for one that was removed; `number` the last that it had in a paper. */
export type UnorderedQuestion = { id: string; place: number | null; number: number }

/** The questions of the assessment with their places. */
export const currentQuestions = (db: TenantDb, assessmentId: string) =>
  db
    .selectFrom('questions')
    .where('assessmentId', '=', assessmentId)
    .select(({ cast, fn }) => [
      'id',
      'script',
      'scriptFormat',
      cast<number>(
        fn.agg('row_number').over((window) => window.orderBy('order').orderBy('id')),
        'integer',
      ).as('place'),
    ])

/** Questions in the assessment's order, then removed ones in the order of the papers. */
export function sortQuestions<Q extends UnorderedQuestion>(questions: readonly Q[]): OrderedQuestion<Q>[] {
  const present = questions.flatMap((question) =>
    question.place === null ? [] : [{ ...question, place: question.place, isRemoved: false }],
  )
  const removed = questions
    .filter(({ place }) => place === null)
    .sort((one, other) => one.number - other.number || (one.id < other.id ? -1 : 1))
    .map((question, i) => ({ ...question, place: i + 1, isRemoved: true }))
  return [...present.sort((one, other) => one.place - other.place), ...removed]
}
