import { anyOf } from '../../../db/query.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Listing, type Page, readPage } from '../../page.ts'
import { isUuid } from '../../uuid.ts'
import { roundOf } from './access.ts'
import { graderOf } from './grade.ts'
import { toGradeRow } from './grades.ts'
import { type Progress, progressOf } from './progress.ts'

/** Whose: those that the actor grades, those that nobody grades (or nobody as the second), or all there are. */
const QUEUES = ['mine', 'nobody', 'all'] as const
export type Whose = (typeof QUEUES)[number]
export type QueueFilter = { whose: Whose; assessmentId?: string | undefined }

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, secondGrader: true, gradedBlind: true } },
  grader: { include: { user: true } },
  secondGrader: { include: { user: true } },
  paper: { select: { number: true, points: true }, orderBy: { number: 'asc' } },
  grades: {
    select: { questionNumber: true, round: true, graderId: true, points: true },
    orderBy: [{ updatedAt: 'asc' }, { id: 'asc' }],
  },
} satisfies Prisma.SubmissionInclude

const LONGEST_FIRST = [{ submittedAt: 'asc' }, { id: 'asc' }] satisfies Prisma.SubmissionOrderByWithRelationInput[]

type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** A submission that waits to be graded. `progress`: null for those who may not grade it (yet). */
export type Queued = Omit<Row, 'paper' | 'grades'> & { progress: Progress | null }

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
      const rows = await submission.findMany({ where: own, include, orderBy: LONGEST_FIRST, relationLoadStrategy: 'join' })
      return rows.map((row) => toQueued(ctx, row))
    },
  )
}

function toQueued(ctx: Context, { paper, grades, ...row }: Row): Queued {
  const round = roundOf(ctx, row)
  return { ...row, progress: round && progressOf(round, row, paper, grades.map(toGradeRow)) }
}

/** How many wait in each queue that the context's actor may see. @throws DomainError not_permitted. */
export async function countQueues(ctx: Context): Promise<{ whose: Whose; count: number }[]> {
  authorize(ctx, 'grade')
  return Promise.all(
    queuesOf(ctx).map(async (whose) => ({
      whose,
      count: await ctx.db.submission.count({ where: await toWhere(ctx, { whose }) }),
    })),
  )
}

/** The queues that the context's actor may see. */
export const queuesOf = (ctx: Context): Whose[] => QUEUES.filter((queue) => queue !== 'all' || may(ctx, 'read'))

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
