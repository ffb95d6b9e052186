import { sql } from '../../../db/builder.ts'
import type { Expressions } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import { ASSIGNED_ROUNDS, isRoundHeld } from './assignments.ts'

/** Time in which the sweep finds a grader, if there is one: an answer without a grader counts only after it. */
const ASSIGNED_WITHIN_MS = 2 * 60_000

/** Answers without a grader. @property language code; null: any grader could have it. */
export type AnswersWithoutGrader = { language: string | null; count: number }

/** Answers that have waited for a grader for longer than the sweep needs to find one, by language, most first. */
export const countAnswersWithoutGrader = (ctx: Context): Promise<AnswersWithoutGrader[]> =>
  countOpenAnswers(ctx, new Date(ctx.deps.clock().getTime() - ASSIGNED_WITHIN_MS))

/**
 * Assigned answers that no member has yet, by language, most first. An answer that needs two more graders counts once.
 *
 * @param until latest time of submission.
 */
export function countOpenAnswers({ db }: Context, until?: Date): Promise<AnswersWithoutGrader[]> {
  return db
    .selectFrom('gradingAssignments')
    .innerJoin(db.table('submissions'), 'submissions.id', 'gradingAssignments.submissionId')
    .where('gradingAssignments.graderId', 'is', null)
    .where('gradingAssignments.isOpen', '=', true)
    .$if(until !== undefined, (query) => query.where('submissions.submittedAt', '<=', until!))
    .where((eb) =>
      eb.or(
        ASSIGNED_ROUNDS.map((round) =>
          eb.and([
            eb('gradingAssignments.round', '=', round),
            eb.not(isRoundHeld(db, eb as unknown as Expressions<'submissions'>, round)),
          ]),
        ),
      ),
    )
    .select('gradingAssignments.language')
    .select(({ ref, cast }) =>
      cast<number>(sql`count(distinct (${ref('submissions.id')}, ${ref('gradingAssignments.questionNumber')}))`, 'integer').as(
        'count',
      ),
    )
    .groupBy('gradingAssignments.language')
    .orderBy('count', 'desc')
    .orderBy('gradingAssignments.language')
    .execute()
}
