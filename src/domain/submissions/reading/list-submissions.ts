import { scopeWhere } from '../../../db/queries.ts'
import type { Prisma, SubmissionState } from '../../../generated/prisma/client.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { omitUndefined } from '../../fields/omit-undefined.ts'
import { type ListPage, type Order, type PageRequest, readPage, totalOrder } from '../../lists/page.ts'
import { isUuid } from '../../text/uuid.ts'
import { newestRelease, newestTotal } from '../newest-release.ts'

export const SUBMISSION_STATES = ['in_progress', 'submitted', 'released'] as const satisfies SubmissionState[]
export type BegunState = (typeof SUBMISSION_STATES)[number]
export type SubmissionFilter = { state?: BegunState; assessmentId?: string }
export type SubmissionOrder = Order<'startedAt'>

const include = { releases: newestTotal } satisfies Prisma.SubmissionInclude
const detailInclude = {
  releases: newestRelease,
  paper: {
    orderBy: { number: 'asc' },
    include: {
      attempts: {
        include: { media: true, files: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      },
    },
  },
} satisfies Prisma.SubmissionInclude

/** Submission with its released result. */
export type ListedSubmission = Prisma.SubmissionGetPayload<{ include: typeof include }>
/** Submission with its newest release, paper, and answers. */
export type WholeSubmission = Prisma.SubmissionGetPayload<{ include: typeof detailInclude }>

/** Lists started and submitted submissions. Beyond both documents. @throws DomainError not_permitted. */
export function listSubmissions(
  ctx: Context,
  { state, assessmentId }: SubmissionFilter,
  order: SubmissionOrder,
  page: PageRequest,
): Promise<ListPage<ListedSubmission>> {
  authorize(ctx, 'read')
  const stateFilter = state ?? { in: [...SUBMISSION_STATES] }
  const where = { ...omitUndefined({ ...scopeWhere(ctx), assessmentId }), state: stateFilter }
  const { submission } = ctx.db
  return readPage(
    page,
    () => submission.count({ where }),
    (window) => submission.findMany({ where, include, orderBy: totalOrder(order), ...window }),
  )
}

/**
 * Submission of an invite. Beyond both documents.
 *
 * @throws DomainError not_permitted; invite_not_found; submission_not_found before the start, and after a withdrawal.
 */
export async function getInviteSubmission(ctx: Context, inviteId: string): Promise<WholeSubmission> {
  authorize(ctx, 'read')
  const where = await whereInviteSubmission(ctx, inviteId)
  const submission = await ctx.db.submission.findFirst({ where, include: detailInclude })
  if (!submission) throw new DomainError('submission_not_found')
  return submission
}

/**
 * Condition for the current submission of an invite. @throws DomainError invite_not_found; submission_not_found before the start.
 */
export async function whereInviteSubmission(ctx: Context, inviteId: string): Promise<Prisma.SubmissionWhereInput> {
  const where = { ...scopeWhere(ctx), id: inviteId }
  const invite = isUuid(inviteId) ? await ctx.db.invite.findFirst({ where, select: { assessmentSession: true } }) : null
  if (!invite) throw new DomainError('invite_not_found')
  if (!invite.assessmentSession) throw new DomainError('submission_not_found')
  return { ...scopeWhere(ctx), inviteId, id: invite.assessmentSession, state: { in: [...SUBMISSION_STATES] } }
}
