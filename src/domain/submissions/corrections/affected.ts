import { sql } from '../../../db/builder.ts'
import { anyOfIds } from '../../../db/queries.ts'
import { jsonOf } from '../../../db/statements.ts'
import type { KeyMode } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { newestGrades } from '../grading/grades.ts'
import type { GradeRow } from '../grading/grading-status.ts'
import type { ReleasedGrade } from '../grading/release-result.ts'
import { newestScores } from '../scores.ts'

/** Released total: the sum before the floor of 0, its maximum, and the released grade of the question. */
export type ReleasedTotal = { sum: number; ofPoints: number; grade: ReleasedGrade }

/** Submitted answer to a question with a corrected key. */
export type AffectedAnswer = {
  submissionId: string
  number: number
  mode: KeyMode
  assessmentId: string
  assessment: string
  /** Points of the question in that paper. */
  points: number
  penaltyPercent: number
  /** The answer in its kind's format; null: none. */
  value: unknown
  /** Points by the earlier key; null: a person has to grade. */
  scored: number | null
  dropped: boolean
  /** Number of the key that scored it last; null: none yet. */
  keyNumber: number | null
  secondGrader: boolean
  /** Newest grades of the question, oldest first. */
  grades: GradeRow[]
  /** Null while it is not released, or reopened. */
  released: ReleasedTotal | null
}

/** The papers that have a version, of live and of test data, by the ids of their submissions. @param after undefined: the first. */
export async function findPapers(ctx: Context, versionId: string, after: string | null, limit: number): Promise<string[]> {
  const papers = ctx.db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.versionId', '=', versionId)
    .$if(after !== null, (query) => query.where('submissionQuestions.submissionId', '>', after!))
    .select('submissionQuestions.submissionId')
    .distinct()
    .orderBy('submissionQuestions.submissionId')
    .limit(limit)
  return (await papers.execute()).map(({ submissionId }) => submissionId)
}

/**
 * Submitted and scored answers of these papers, within the context's scope. Unscored ones are left to the sweep, which scores
 * whole papers by the newest keys: a score of this question alone would look as if that were done.
 */
export function findAffected(ctx: Context, versionId: string, submissionIds: readonly string[]): Promise<AffectedAnswer[]> {
  const rows = ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', anyOfIds(submissionIds))
    .where('submissions.state', 'in', [sql.lit('submitted' as const), sql.lit('released' as const)])
    .where('submissions.needsGrading', 'is not', null)
    .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'submissions.assessmentId')
    .innerJoin(ctx.db.table('submissionQuestions'), (join) =>
      join.onRef('submissionQuestions.submissionId', '=', 'submissions.id').on('submissionQuestions.versionId', '=', versionId),
    )
    .leftJoin(ctx.db.table('answerAttempts'), (join) =>
      join
        .onRef('answerAttempts.submissionId', '=', 'submissionQuestions.submissionId')
        .onRef('answerAttempts.questionNumber', '=', 'submissionQuestions.number')
        .on('answerAttempts.kind', '=', 'text'),
    )
    .leftJoinLateral(
      (eb) =>
        newestScores(eb, ctx.db)
          .select(['questionScores.points', 'questionScores.dropped', 'questionScores.keyNumber'])
          .as('score'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom(ctx.db.table('releases'))
          .whereRef('releases.submissionId', '=', 'submissions.id')
          .whereRef('submissions.state', '=', sql`'released'`)
          .select(({ ref }) => [
            sql<number>`(select coalesce(sum((one->>'points')::float8), 0) from jsonb_array_elements(${ref('releases.grades')}) one)`.as(
              'sum',
            ),
            sql<number>`${ref('releases.ofPoints')}::float8`.as('ofPoints'),
            sql<ReleasedGrade | null>`jsonb_path_query_first(${ref('releases.grades')}, '$[*] ? (@.number == $number)', jsonb_build_object('number', ${sql.ref('submissionQuestions.number')}))`.as(
              'grade',
            ),
          ])
          .orderBy('releases.version', 'desc')
          .limit(eb.lit(1))
          .as('release'),
      (join) => join.onTrue(),
    )
    .select(['submissions.id as submissionId', 'submissions.mode', 'submissions.penaltyPercent'])
    .select(['assessments.id as assessmentId', 'assessments.name as assessment'])
    .select(['submissionQuestions.number', 'submissionQuestions.points', 'answerAttempts.value', 'score.keyNumber'])
    .select(['release.sum', 'release.ofPoints', 'release.grade'])
    .select((eb) => [
      eb
        .and([eb('assessments.secondGrader', '=', true), eb('submissions.keepsOneGrader', '=', false)])
        .$castTo<boolean>()
        .as('secondGrader'),
      eb.cast<number | null>('score.points', 'float8').as('scored'),
      eb.fn.coalesce('score.dropped', eb.lit(false)).as('dropped'),
      jsonOf(newestGrades(ctx.db, eb.ref('submissions.id'))).as('grades'),
    ])
    .orderBy('submissions.id')
    .orderBy('submissionQuestions.number')
  return rows.execute().then((found) =>
    found.map(({ sum, ofPoints, grade, grades, ...row }) => ({
      ...row,
      grades: grades.filter(({ questionNumber }) => questionNumber === row.number) as GradeRow[],
      released: grade && { sum: sum ?? 0, ofPoints: ofPoints ?? 0, grade },
    })),
  )
}
