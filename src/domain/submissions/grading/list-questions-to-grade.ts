import { sql } from '../../../db/builder.ts'
import { anyOfIds, type Expressions } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import {
  type AskedQuestion,
  answersToGrade,
  findAssessment,
  gradableSubmissions,
  isGradedByActor,
  wordingOf,
} from './answers-to-grade.ts'

/** Submissions from which the list of questions is made, so that the cost is constant. */
const FIRST_SUBMISSIONS = 300

/** @property number of the question in most papers. @property toGrade answers of the longest waiting submissions. */
export type QuestionToGrade = AskedQuestion & {
  number: number
  script: string
  scriptFormat: string
  points: number
  hasRubric: boolean
  toGrade: number
}

/** @property isCut true if there are more submissions than were looked at. */
export type QuestionsToGrade = { assessment: { id: string; name: string }; questions: QuestionToGrade[]; isCut: boolean }

/** Questions of the waiting submissions with answers for the actor. @throws DomainError not_permitted; assessment_not_found. */
export async function listQuestionsToGrade(ctx: Context, assessmentId: string): Promise<QuestionsToGrade> {
  const assessment = await findAssessment(ctx, assessmentId)
  const oldest = gradableSubmissions(ctx, assessmentId)
    .orderBy('submissions.submittedAt')
    .orderBy('submissions.id')
    .limit(FIRST_SUBMISSIONS)
  const ids = (await oldest.select('submissions.id').execute()).map(({ id }) => id)
  const rows = await ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', anyOfIds(ids))
    .innerJoinLateral(
      (eb) =>
        answersToGrade(ctx, eb as unknown as Expressions<'submissions'>)
          .select(['submissionQuestions.questionId', 'submissionQuestions.number', 'submissionQuestions.script'])
          .select(['submissionQuestions.scriptFormat', 'submissionQuestions.points'])
          .select((questionEb) => [
            wordingOf(questionEb).as('wording'),
            questionEb('submissionQuestions.rubric', 'is not', null).as('hasRubric'),
            isGradedByActor(ctx, questionEb).as('isGraded'),
          ])
          .as('answer'),
      (join) => join.onTrue(),
    )
    .select(({ fn, cast }) => [
      'answer.questionId',
      'answer.wording',
      fn.min('answer.number').as('number'),
      fn.min('answer.script').as('script'),
      fn.min('answer.scriptFormat').as('scriptFormat'),
      fn.min('answer.points').as('points'),
      sql<boolean>`bool_or(${sql.ref('answer.hasRubric')})`.as('hasRubric'),
      cast<number>(sql<number>`count(*) filter (where not ${sql.ref('answer.isGraded')})`, 'integer').as('toGrade'),
    ])
    .groupBy(['answer.questionId', 'answer.wording'])
    .orderBy('number')
    .orderBy('answer.wording')
    .execute()
  const questions = rows.map((row) => ({ ...row, assessmentId, hasRubric: row.hasRubric === true }))
  return { assessment, questions, isCut: ids.length === FIRST_SUBMISSIONS }
}
