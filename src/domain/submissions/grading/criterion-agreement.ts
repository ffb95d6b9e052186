import { sql } from '../../../db/builder.ts'
import { anyOfIds } from '../../../db/queries.ts'
import type { Rubric } from '../../assessments/rubric.ts'
import type { Context } from '../../context.ts'
import { currentQuestions, sortQuestions } from './ordered-questions.ts'
import { withCurrentWords } from './rubrics.ts'

/**
 * Levels of a criterion that two graders chose for the same answers.
 *
 * @property question place of the question, see ordered-questions.ts. @property answers for which both chose a level. @property same share of
 *   these with the same level. @property distance mean difference in levels.
 */
export type CriterionAgreement = {
  question: number
  isRemoved: boolean
  criterion: string
  answers: number
  same: number
  distance: number
}

/** Answers of a question for which the first grader chose `levels`, and the second one `otherLevels`. */
type ChosenLevels = { id: string; rubric: Rubric; levels: number[]; otherLevels: number[]; count: number }

/** Agreement of first and second graders by criterion, in the order of the questions. */
export async function readCriterionAgreement(
  ctx: Context,
  assessmentId: string,
  submissionIds: string[],
): Promise<CriterionAgreement[]> {
  const chosen = await countChosenLevels(ctx, assessmentId, submissionIds)
  const questions = new Map(chosen.map((question) => [question.id, question]))
  return sortQuestions([...questions.values()]).flatMap(({ id, place, isRemoved }) =>
    agreeByCriterion(chosen.filter((question) => question.id === id)).map((agreed) => ({
      question: place,
      isRemoved,
      ...agreed,
    })),
  )
}

async function countChosenLevels({ db }: Context, assessmentId: string, submissionIds: string[]) {
  const levelsOf = (round: 1 | 2) =>
    db
      .selectFrom('grades')
      .where('grades.submissionId', '=', anyOfIds(submissionIds))
      .where('grades.round', '=', sql.lit(round))
      .where('grades.levels', '!=', sql<number[]>`'{}'`)
      .distinctOn(['grades.submissionId', 'grades.questionNumber'])
      .orderBy('grades.submissionId')
      .orderBy('grades.questionNumber')
      .orderBy('grades.updatedAt', 'desc')
      .orderBy('grades.id', 'desc')
      .select(['grades.submissionId', 'grades.questionNumber', 'grades.levels'])
  const rows = await db
    .selectFrom(levelsOf(1).as('first'))
    .innerJoin(levelsOf(2).as('second'), (join) =>
      join.onRef('second.submissionId', '=', 'first.submissionId').onRef('second.questionNumber', '=', 'first.questionNumber'),
    )
    .innerJoin(db.table('submissionQuestions'), (join) =>
      join
        .onRef('submissionQuestions.submissionId', '=', 'first.submissionId')
        .onRef('submissionQuestions.number', '=', 'first.questionNumber'),
    )
    .leftJoin(currentQuestions(db, assessmentId).as('present'), 'present.id', 'submissionQuestions.questionId')
    .leftJoin(db.table('questions'), 'questions.id', 'submissionQuestions.questionId')
    .select(({ cast, fn }) => [
      'submissionQuestions.questionId as id',
      'submissionQuestions.rubric',
      'questions.rubric as current',
      'present.place',
      'first.levels',
      'second.levels as otherLevels',
      fn.max('submissionQuestions.number').as('number'),
      cast<number>(fn.countAll(), 'integer').as('count'),
    ])
    .groupBy(['submissionQuestions.questionId', 'submissionQuestions.rubric', 'questions.rubric', 'present.place'])
    .groupBy(['first.levels', 'second.levels'])
    .execute()
  return rows.map(({ rubric, current, ...row }) => ({
    ...row,
    rubric: withCurrentWords(rubric as Rubric, current as Rubric | null),
  }))
}

/** @param chosen levels of one question. Criteria with the same name are the same, also where a paper has an older rubric. */
function agreeByCriterion(chosen: readonly ChosenLevels[]): Omit<CriterionAgreement, 'question' | 'isRemoved'>[] {
  const sums = new Map<string, { answers: number; same: number; distance: number }>()
  for (const { rubric, levels, otherLevels, count } of chosen)
    for (const [i, { name }] of rubric.entries()) {
      const sum = sums.get(name) ?? { answers: 0, same: 0, distance: 0 }
      sums.set(name, sum) // in the order of the rubric
      const [level, otherLevel] = [levels[i] ?? 0, otherLevels[i] ?? 0]
      if (level === 0 || otherLevel === 0) continue
      sums.set(name, {
        answers: sum.answers + count,
        same: sum.same + (level === otherLevel ? count : 0),
        distance: sum.distance + Math.abs(level - otherLevel) * count,
      })
    }
  return [...sums]
    .filter(([, { answers }]) => answers > 0)
    .map(([criterion, { answers, same, distance }]) => ({
      criterion,
      answers,
      same: same / answers,
      distance: distance / answers,
    }))
}
