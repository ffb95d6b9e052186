import { scopeWhere } from '../../../db/queries.ts'
import type { MemberStatus, Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { mayGrade } from '../../members/graders.ts'
import { isUuid } from '../../text/uuid.ts'
import type { GradableQuestion } from '../scores.ts'
import { gradingFacts } from '../scores.ts'

/** 1: the first grader's; 2: the second's; 3: an admin's, who decides where those differ. */
export const ROUNDS = [1, 2, 3] as const
export type GradingRound = (typeof ROUNDS)[number]

export type GraderSlot = 'first' | 'second'

const grader = { select: { id: true, status: true, roles: true, user: true } } satisfies Prisma.Submission$graderArgs
const include = {
  assessment: { select: { name: true, secondGrader: true, blindGrading: true } },
  invite: true,
  grader,
  secondGrader: grader,
} satisfies Prisma.SubmissionInclude

/** A submission that was handed in, with its invite. */
export type SubmissionToGrade = Prisma.SubmissionGetPayload<{ include: typeof include }>

type WithGraders = { keepsOneGrader: boolean; assessment: { secondGrader: boolean } }

/** Applies `keepsOneGrader`: a submission that one grader began to grade keeps one, although its assessment has two now. */
export const withEffectiveGraders = <S extends WithGraders>(submission: S): S => ({
  ...submission,
  assessment: { ...submission.assessment, secondGrader: submission.assessment.secondGrader && !submission.keepsOneGrader },
})

type Grader = { id: string; status: MemberStatus; roles: string[] }
/** Assigned graders, as far as they decide who may grade. */
export type AssignedGraders = Record<'grader' | 'secondGrader', Grader | null> & { assessment: { secondGrader: boolean } }

/**
 * The member to whom that place is assigned and who may grade: whoever was deactivated, or has lost the role, keeps it free for others, and
 * has it again if they come back before it is taken.
 */
export function effectiveGraderOf<G extends Grader>(
  { grader, secondGrader }: Record<'grader' | 'secondGrader', G | null>,
  place: GraderSlot,
): G | null {
  const assigned = place === 'first' ? grader : secondGrader
  return assigned && mayGrade(assigned) ? assigned : null
}

/**
 * In which round the context's actor grades a submission. Those it is assigned to may, any grader while nobody holds it, and admins always;
 * an admin to whom it is not assigned decides where it is graded twice.
 *
 * @returns null for those who may not.
 */
export function roundOf(ctx: Context, submission: AssignedGraders): GradingRound | null {
  const { actor } = ctx
  if (actor.kind !== 'member' || !may(ctx, 'grade')) return null
  if (actor.id === effectiveGraderOf(submission, 'second')?.id) return 2
  const first = effectiveGraderOf(submission, 'first')
  if (first === null || actor.id === first.id) return 1
  if (!may(ctx, 'read')) return null
  return decidingRoundOf(submission)
}

/**
 * Up to which round the context's actor sees the grades: those of their own or, of whoever releases everybody's results, all as an admin.
 *
 * @throws DomainError submission_not_found for those who may see none.
 */
export const requireVisibleRound = (ctx: Context, submission: AssignedGraders): GradingRound =>
  roundOf(ctx, submission) ?? (may(ctx, 'release_results') ? decidingRoundOf(submission) : throwSubmissionNotFound())

/** Round of an admin's decision. */
const decidingRoundOf = ({ assessment }: AssignedGraders): GradingRound => (assessment.secondGrader ? 3 : 1)

/** Round in which the actor grades the submission. @throws DomainError submission_not_found if the actor may not grade it. */
export const requireRound = (ctx: Context, submission: AssignedGraders): GradingRound =>
  roundOf(ctx, submission) ?? throwSubmissionNotFound()

/**
 * A submission that was handed in, whoever may grade or release it.
 *
 * @throws DomainError not_permitted; submission_not_found, also for one that is not handed in.
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
 * A submission that was handed in, which nobody else grades, releases or assigns until the transaction ends.
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
