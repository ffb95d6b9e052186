import { type Condition, type Expressions, scopeWhere } from '../../../db/queries.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import type { MemberStatus, Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { mayGrade } from '../../members/graders.ts'
import { isUuid } from '../../text/uuid.ts'
import type { GradableQuestion } from '../scores.ts'
import { gradingFacts } from '../scores.ts'

/** 1: by the first grader; 2: by the second; 3: by an admin or third grader, who decides if they differ. */
export const ROUNDS = [1, 2, 3] as const
export type GradingRound = (typeof ROUNDS)[number]

export type GraderSlot = 'first' | 'second'

const grader = { select: { id: true, status: true, roles: true, user: true } } satisfies Prisma.Submission$graderArgs
/** Prisma arguments for the answers that are assigned one by one. */
export const assignedAnswers = {
  select: { questionNumber: true, round: true, grader },
  orderBy: [{ questionNumber: 'asc' }, { round: 'asc' }],
} satisfies Prisma.Submission$gradingAssignmentsArgs
const include = {
  assessment: { select: { name: true, secondGrader: true, thirdGrader: true, blindGrading: true } },
  invite: true,
  grader,
  secondGrader: grader,
  gradingAssignments: assignedAnswers,
} satisfies Prisma.SubmissionInclude

/** Submission after it was submitted, with its invite. */
export type SubmissionToGrade = Prisma.SubmissionGetPayload<{ include: typeof include }>

type WithGraders = { keepsOneGrader: boolean; assessment: { secondGrader: boolean } }

/** Applies `keepsOneGrader`: a submission that one grader began to grade keeps one, although its assessment has two now. */
export const withEffectiveGraders = <S extends WithGraders>(submission: S): S => ({
  ...submission,
  assessment: { ...submission.assessment, secondGrader: submission.assessment.secondGrader && !submission.keepsOneGrader },
})

/** SQL condition: as withEffectiveGraders, two graders grade the submission. */
export const isGradedTwice = (eb: Expressions<'submissions'>, db: TenantDb): Condition =>
  eb.and([
    eb('submissions.keepsOneGrader', '=', false),
    eb.exists(
      eb
        .selectFrom(db.table('assessments'))
        .whereRef('assessments.id', '=', 'submissions.assessmentId')
        .where('assessments.secondGrader', '=', true),
    ),
  ])

/** SQL condition: a third grader decides where two differ. */
export const hasThirdGrader = (eb: Expressions<'submissions'>, db: TenantDb): Condition =>
  eb.and([
    isGradedTwice(eb, db),
    eb.exists(
      eb
        .selectFrom(db.table('assessments'))
        .whereRef('assessments.id', '=', 'submissions.assessmentId')
        .where('assessments.thirdGrader', '=', true),
    ),
  ])

type Grader = { id: string; status: MemberStatus; roles: string[] }
/** Assigned graders, with the fields that decide who may grade. */
export type AssignedGraders = Record<'grader' | 'secondGrader', Grader | null> & {
  needsThirdGrader: boolean
  assessment: { secondGrader: boolean; thirdGrader: boolean }
  gradingAssignments: readonly { questionNumber: number; round: number; grader: Grader | null }[]
}

/**
 * Assigned member if they may grade now. A deactivated member, or one without the role, leaves the slot free, and has it back if they
 * return before it is taken.
 */
export function effectiveGraderOf<G extends Grader>(
  { grader, secondGrader }: Record<'grader' | 'secondGrader', G | null>,
  place: GraderSlot,
): G | null {
  const assigned = place === 'first' ? grader : secondGrader
  return assigned && mayGrade(assigned) ? assigned : null
}

/** Answers of a round that are assigned one by one; none while one member holds the whole round. */
function answersAssigned<S extends AssignedGraders>(submission: S, place: GraderSlot): S['gradingAssignments'][number][] {
  if (effectiveGraderOf(submission, place) || (place === 'second' && !submission.assessment.secondGrader)) return []
  return submission.gradingAssignments.filter(({ round }) => round === (place === 'first' ? 1 : 2))
}

/** True if no active grader holds the slot or some of its answers. */
export function isSlotOpen(submission: AssignedGraders, place: GraderSlot): boolean {
  if (effectiveGraderOf(submission, place)) return false
  const answers = answersAssigned(submission, place)
  return answers.length === 0 || answers.some(({ grader }) => !grader || !mayGrade(grader))
}

/** The place in which answers of the submission are assigned to the member; null: none are. */
export const assignedSlotOf = (submission: AssignedGraders, memberId: string): GraderSlot | null =>
  (['first', 'second'] as const).find((place) =>
    answersAssigned(submission, place).some(({ grader }) => grader?.id === memberId && mayGrade(grader)),
  ) ?? null

/**
 * The other member to whom an answer is assigned, so that the actor does not grade it in this round; null: the actor may. Admins grade any
 * answer, unless two graders do.
 */
export function otherGraderOf<S extends AssignedGraders>(
  ctx: Context,
  submission: S,
  round: GradingRound,
  number: number,
): S['gradingAssignments'][number]['grader'] {
  if (round === 3 || (!submission.assessment.secondGrader && may(ctx, 'read'))) return null
  const answers = answersAssigned(submission, round === 1 ? 'first' : 'second')
  const holder = answers.find(({ questionNumber }) => questionNumber === number)?.grader
  return holder && mayGrade(holder) && !(ctx.actor.kind === 'member' && ctx.actor.id === holder.id) ? holder : null
}

/**
 * Round in which the actor grades a submission: graders of all or some of its answers, any grader while the slot is open, and admins. With
 * two graders, an unassigned admin makes the final decision, or any other grader if the assessment has a third grader.
 *
 * @returns null for actors who may not grade it.
 */
export function roundOf(ctx: Context, submission: AssignedGraders): GradingRound | null {
  const { actor } = ctx
  if (actor.kind !== 'member' || !may(ctx, 'grade')) return null
  if (actor.id === effectiveGraderOf(submission, 'second')?.id) return 2
  if (actor.id === effectiveGraderOf(submission, 'first')?.id) return 1
  const assigned = assignedSlotOf(submission, actor.id)
  if (assigned) return assigned === 'first' ? 1 : 2
  if (isSlotOpen(submission, 'first')) return 1
  if (goesToThirdGrader(submission)) return 3
  if (!may(ctx, 'read')) return null
  return decidingRoundOf(submission)
}

/**
 * Last round whose grades the actor sees: their own; all rounds for actors who release all results.
 *
 * @throws DomainError submission_not_found for actors who see none.
 */
export const requireVisibleRound = (ctx: Context, submission: AssignedGraders): GradingRound =>
  roundOf(ctx, submission) ?? (may(ctx, 'release_results') ? decidingRoundOf(submission) : throwSubmissionNotFound())

/** True if the two graders differed, and another grader decides. */
export const goesToThirdGrader = ({ needsThirdGrader, assessment }: AssignedGraders): boolean =>
  needsThirdGrader && assessment.secondGrader && assessment.thirdGrader

/** Round of an admin's decision. */
const decidingRoundOf = ({ assessment }: AssignedGraders): GradingRound => (assessment.secondGrader ? 3 : 1)

/** Round in which the actor grades the submission. @throws DomainError submission_not_found if the actor may not grade it. */
export const requireRound = (ctx: Context, submission: AssignedGraders): GradingRound =>
  roundOf(ctx, submission) ?? throwSubmissionNotFound()

/**
 * Finds a submission for grading or releasing.
 *
 * @throws DomainError not_permitted; submission_not_found, also before it is submitted.
 */
export async function findSubmitted(ctx: Context, id: string): Promise<SubmissionToGrade> {
  if (!may(ctx, 'grade_for_members') && !may(ctx, 'release_results')) authorize(ctx, 'grade')
  if (!isUuid(id)) throwSubmissionNotFound()
  const where = {
    ...scopeWhere(ctx),
    id,
    state: { in: ['submitted', 'released'] },
  } satisfies Prisma.SubmissionWhereInput
  return withEffectiveGraders(
    (await ctx.db.submission.findFirst({ where, include, relationLoadStrategy: 'join' })) ?? throwSubmissionNotFound(),
  )
}

/**
 * Locks a submission against grading, releasing, and assigning until the transaction ends.
 *
 * @throws DomainError not_permitted, submission_not_found.
 */
export async function lockSubmitted(ctx: Context, id: string): Promise<SubmissionToGrade> {
  const { inviteId } = await findSubmitted(ctx, id)
  // The invite first, as everywhere: who assigns it holds that.
  await ctx.db.selectFrom('invites').select('id').where('id', '=', inviteId).forNoKeyUpdate().execute()
  await ctx.db.selectFrom('submissions').select('id').where('id', '=', id).forNoKeyUpdate().execute()
  return findSubmitted(ctx, id)
}

/** Questions of the paper with their points and automatic scores. */
export const findPaper = (ctx: Context, submissionId: string): Promise<GradableQuestion[]> =>
  ctx.db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submissionId)
    .select(['submissionQuestions.number', 'submissionQuestions.points'])
    .select((paper) => gradingFacts(paper, ctx.db))
    .orderBy('submissionQuestions.number')
    .execute()

export function throwSubmissionNotFound(): never {
  throw new DomainError('submission_not_found')
}
