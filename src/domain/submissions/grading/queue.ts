import { anyOf } from '../../../db/query.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Listing, type Page, readPage } from '../../page.ts'
import { isUuid } from '../../uuid.ts'
import { graderOf } from './grade.ts'

/** Whose: those that the actor grades, those that nobody grades (or nobody as the second), or all there are. */
export const QUEUES = ['mine', 'nobody', 'all'] as const
export type Whose = (typeof QUEUES)[number]
export type QueueFilter = { whose: Whose; assessmentId?: string | undefined }

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, secondGrader: true, gradedBlind: true } },
  grader: { include: { user: true } },
  secondGrader: { include: { user: true } },
} satisfies Prisma.SubmissionInclude

const LONGEST_FIRST = [{ submittedAt: 'asc' }, { id: 'asc' }] satisfies Prisma.SubmissionOrderByWithRelationInput[]

/** A submission that waits to be graded. */
export type Queued = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** What was handed in and is not released, waiting longest first. @throws DomainError not_permitted, for `all` but to admins. */
export async function listQueue(ctx: Context, filter: QueueFilter, page: Page): Promise<Listing<Queued>> {
  authorize(ctx, 'grade')
  if (filter.whose === 'all' && !may(ctx, 'read')) throw new DomainError('not_permitted')
  const where = await toWhere(ctx, filter)
  const { submission } = ctx.db
  return readPage(
    page,
    () => submission.count({ where }),
    async (window) => {
      // First which: related rows would otherwise be looked up for all the pages before, too.
      const found = await submission.findMany({ where, select: { id: true }, orderBy: LONGEST_FIRST, ...window })
      const ids = found.map(({ id }) => id)
      const own = { organizationId: ctx.organization.id, id: anyOf(ids) }
      return submission.findMany({ where: own, include, orderBy: LONGEST_FIRST, relationLoadStrategy: 'join' })
    },
  )
}

/** The assessments of which something waits in that queue, by name. */
export async function listQueuedAssessments(ctx: Context, whose: Whose): Promise<{ id: string; name: string }[]> {
  authorize(ctx, 'grade')
  const waiting = await ctx.db.submission.groupBy({ by: ['assessmentId'], where: await toWhere(ctx, { whose }) })
  const ids = waiting.map(({ assessmentId }) => assessmentId)
  return ctx.db.assessment.findMany({
    where: { organizationId: ctx.organization.id, id: anyOf(ids) },
    select: { id: true, name: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })
}

async function toWhere(ctx: Context, { whose, assessmentId }: QueueFilter): Promise<Prisma.SubmissionWhereInput> {
  const waiting = {
    organizationId: ctx.organization.id,
    state: 'submitted',
    ...(assessmentId !== undefined && isUuid(assessmentId) && { assessmentId }),
  } satisfies Prisma.SubmissionWhereInput
  if (whose === 'all') return waiting
  const me = graderOf(ctx)
  if (whose === 'mine') return { ...waiting, OR: [{ graderId: me }, { secondGraderId: me }] }
  const twice = await listGradedTwice(ctx)
  if (twice.length === 0) return { ...waiting, graderId: null }
  return { ...waiting, OR: [{ graderId: null }, { graderId: { not: me }, secondGraderId: null, assessmentId: anyOf(twice) }] }
}

/** The assessments that two graders grade. */
async function listGradedTwice({ db, organization }: Context): Promise<string[]> {
  const where = { organizationId: organization.id, secondGrader: true }
  return (await db.assessment.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } })).map(({ id }) => id)
}
