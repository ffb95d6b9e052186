import { sql } from '../../db/builder.ts'
import type { Expressions } from '../../db/queries.ts'
import { listOf } from '../../db/statements.ts'
import type { TenantDb } from '../../db/tenant-db.ts'

/** Language that a grader of the question must know: the language of the answer or, if it is not set, of the question. */
export const gradedLanguage = (eb: Expressions<'submissionQuestions'>) =>
  sql<
    string | null
  >`coalesce(nullif(${eb.ref('submissionQuestions.targetLanguage')}, ''), nullif(${eb.ref('submissionQuestions.sourceLanguage')}, ''))`

/** For a question in no language. */
export const NO_LANGUAGE = ''

/** Value of `graded_languages`: the languages of a submission's questions with points, and `es` beside `es-MX`. */
export function gradedLanguages(db: TenantDb, submissionId: string) {
  const questions = db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submissionId)
    .where('submissionQuestions.points', '>', 0)
    .select((eb) => sql<string>`coalesce(${gradedLanguage(eb)}, ${sql.lit(NO_LANGUAGE)})`.as('code'))
  const codes = sql<{ code: string }>`unnest(array[question.code, split_part(question.code, '-', 1)])`.as<'codes'>(
    sql`codes (code)`,
  )
  return listOf<string>(
    db
      .selectFrom(questions.as('question'))
      .innerJoinLateral(codes, (join) => join.onTrue())
      .select('codes.code')
      .distinct(),
  )
}
