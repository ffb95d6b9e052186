import { bestPointsOf, hasSamePoints, type Rubric } from '../../assessments/rubric.ts'
import type { Context } from '../../context.ts'

/**
 * Rubrics of a paper by the numbers of its questions. A paper keeps the rubric of its start. If the question's rubric has the same points
 * today, its words of today count: authors may correct words while papers are out.
 */
export async function findRubrics({ db }: Context, submissionId: string): Promise<Map<number, Rubric>> {
  const questions = await db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submissionId)
    .where('submissionQuestions.rubric', 'is not', null)
    .leftJoin(db.table('questions'), 'questions.id', 'submissionQuestions.questionId')
    .select(['submissionQuestions.number', 'submissionQuestions.rubric', 'questions.rubric as current'])
    .execute()
  return new Map(
    questions.map(({ number, rubric, current }) => [number, withCurrentWords(rubric as Rubric, current as Rubric | null)]),
  )
}

/** A paper's rubric with the words of today if the points are the same. */
export const withCurrentWords = (paperRubric: Rubric, current: Rubric | null): Rubric =>
  current && hasSamePoints(paperRubric, current) ? current : paperRubric

/** A criterion in a released result. @property level from 1; null: none chosen, or two graders chose different ones. */
export type ReleasedCriterion = { criterion: string; level: number | null; text: string; points: number | null; ofPoints: number }

/** @param levels see Grade.levels. */
export const releaseCriteria = (rubric: Rubric, levels: readonly number[]): ReleasedCriterion[] =>
  rubric.map((criterion, i) => {
    const level = levels[i] || null
    const chosen = level === null ? undefined : criterion.levels[level - 1]
    const ofPoints = bestPointsOf(criterion)
    return { criterion: criterion.name, level, text: chosen?.text ?? '', points: chosen?.points ?? null, ofPoints }
  })
