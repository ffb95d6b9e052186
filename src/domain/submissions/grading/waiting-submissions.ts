import { sql } from '../../../db/builder.ts'
import type { Condition, Expressions, Rows } from '../../../db/queries.ts'
import { listOf } from '../../../db/statements.ts'
import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { isUuid } from '../../text/uuid.ts'
import { NO_LANGUAGE } from '../graded-languages.ts'
import { hasAssignment, isRoundCovered, isRoundHeld } from './assignments.ts'
import { hasThirdGrader, isGradedTwice } from './graded-submission.ts'
import { requireGraderId } from './save-grade.ts'
import { isUndecided, waitsForOthers } from './waits-for-others.ts'

// Conditions of the grading queues, as SQL.

/**
 * Queues. `mine`: graded by the actor, who has something to do; `nobody`: without a grader, or without the second or third one; `others`:
 * graded by the actor, waiting for others; `all`; and `release`: nothing to grade, only to release, which is in none of the rest.
 */
export const QUEUES = ['mine', 'nobody', 'others', 'all', 'release'] as const
export type QueueName = (typeof QUEUES)[number]
/** `myLanguages`: only submissions with an answer in one of the actor's grading languages, or in none. It leaves out nothing that is assigned to the actor. */
export type QueueFilter = { queue: QueueName; assessmentId?: string | undefined; myLanguages?: boolean | undefined }

/** Submissions that are not released; for all queues but `release` those that people grade. */
export const unreleasedSubmissions = (ctx: Context, queue: QueueName): Rows<'submissions'> =>
  ctx.db
    .selectFrom('submissions')
    .where('submissions.state', '=', sql.lit('submitted'))
    .where('submissions.needsGrading', queue === 'release' ? 'is' : 'is not', false)

/** The submissions that the queue has. */
export function waitingSubmissions(ctx: Context, { queue, assessmentId, myLanguages }: QueueFilter): Rows<'submissions'> {
  const unreleased = unreleasedSubmissions(ctx, queue)
  const ofAssessment =
    assessmentId !== undefined && isUuid(assessmentId)
      ? unreleased.where('submissions.assessmentId', '=', assessmentId)
      : unreleased
  const isFiltered = myLanguages === true && FILTERED_BY_LANGUAGE.includes(queue)
  const waiting = isFiltered ? ofAssessment.where((eb) => hasAnswerInMyLanguages(ctx, eb)) : ofAssessment
  if (queue === 'all') return waiting
  if (queue === 'release') {
    return may(ctx, 'read') ? waiting : waiting.where((eb) => isReadableByGrader(ctx, eb))
  }
  return waiting.where((eb) => isInQueue(ctx, eb, queue))
}

/** The other queues contain what somebody assigned to the actor, in any language. */
const FILTERED_BY_LANGUAGE: readonly QueueName[] = ['nobody', 'all']

/** True for members who have grading languages. */
export const hasGradingLanguages = async (ctx: Context): Promise<boolean> =>
  ctx.actor.kind === 'member' && (await codesOf(ctx, ctx.actor.id).limit(1).executeTakeFirst()) !== undefined

const codesOf = ({ db }: Context, memberId: string) =>
  db
    .selectFrom('memberGradingLanguages')
    .innerJoin(db.table('languages'), 'languages.id', 'memberGradingLanguages.languageId')
    .where('memberGradingLanguages.memberId', '=', memberId)
    .select('languages.code')

/** SQL condition: a question with points is in one of the actor's grading languages, or in none. Without recorded languages it holds for everybody. */
function hasAnswerInMyLanguages(ctx: Context, eb: Expressions<'submissions'>): Condition {
  const languages = eb.ref('submissions.gradedLanguages')
  const codes = listOf(codesOf(ctx, requireGraderId(ctx)))
  return sql<boolean>`coalesce(${languages} && array_append(${codes}, ${sql.lit(NO_LANGUAGE)}), true)`
}

function isInQueue(ctx: Context, eb: Expressions<'submissions'>, queue: 'mine' | 'nobody' | 'others'): Condition {
  const me = requireGraderId(ctx)
  const waits = waitsForOthers(ctx.db, eb, me)
  if (queue === 'mine') return eb.and([isAssigned(ctx, eb), eb.not(waits)])
  if (queue === 'others') return eb.and([isAssigned(ctx, eb), waits])
  const isFreeBeside = eb.and([
    eb('submissions.graderId', 'is distinct from', me),
    eb('submissions.secondGraderId', 'is distinct from', me),
    eb.not(hasAssignment(ctx.db, eb, me)),
    isSlotFree(ctx, eb, 'secondGraderId'),
    isGradedTwice(eb, ctx.db),
  ])
  const isFree = eb.and([isSlotFree(ctx, eb, 'graderId'), eb.not(hasAssignment(ctx.db, eb, me))])
  return eb.or([isFree, isFreeBeside, waitsForThirdGrader(ctx, eb, me)])
}

/** SQL condition: a grader may read the submitted answers, as mayReadSubmission has it. */
export const isReadableByGrader = (ctx: Context, eb: Expressions<'submissions'>): Condition =>
  eb.or([isAssigned(ctx, eb), isSlotFree(ctx, eb, 'graderId')])

/** SQL condition: the two graders differ, and the member is none of them. The few ids come first, because they have an index of their own. */
function waitsForThirdGrader({ db }: Context, eb: Expressions<'submissions'>, me: string): Condition {
  const undecided = db
    .selectFrom('submissions')
    .where('submissions.needsThirdGrader', '=', sql.lit(true))
    .where('submissions.graderId', 'is distinct from', me)
    .where('submissions.secondGraderId', 'is distinct from', me)
    .where((submissionEb) =>
      submissionEb.and([
        submissionEb.not(hasAssignment(db, submissionEb, me)),
        hasThirdGrader(submissionEb, db),
        isUndecided(db, submissionEb),
      ]),
    )
    .select('submissions.id')
  return eb('submissions.id', '=', sql<string>`any(array(${undecided}))`)
}

/** SQL condition: the submission, or one of its answers, is assigned to the actor. */
export function isAssigned(ctx: Context, eb: Expressions<'submissions'>): Condition {
  const me = requireGraderId(ctx)
  return eb.or([eb('submissions.graderId', '=', me), eb('submissions.secondGraderId', '=', me), hasAssignment(ctx.db, eb, me)])
}

/** SQL condition: as isSlotOpen. */
export function isSlotFree(ctx: Context, eb: Expressions<'submissions'>, place: 'graderId' | 'secondGraderId'): Condition {
  const round = place === 'graderId' ? 1 : 2
  const isUnheld = eb.or([eb(`submissions.${place}`, 'is', null), eb.not(isRoundHeld(ctx.db, eb, round))])
  return eb.and([isUnheld, eb.not(isRoundCovered(ctx.db, eb, round))])
}
