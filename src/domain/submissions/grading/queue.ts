import { anyOf } from '../../../db/query.ts'
import { Prisma } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Listing, type Page, readPage } from '../../page.ts'
import { isUuid } from '../../uuid.ts'
import { roundOf } from './access.ts'
import { graderOf } from './grade.ts'
import { type Progress, progressOf } from './progress.ts'
import type { GradeRow } from './totals.ts'

/** Whose: those that the actor grades, those that nobody grades (or nobody as the second), or all there are. */
const QUEUES = ['mine', 'nobody', 'all'] as const
export type Whose = (typeof QUEUES)[number]
export type QueueFilter = { whose: Whose; assessmentId?: string | undefined }

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true, secondGrader: true, gradedBlind: true } },
  grader: { include: { user: true } },
  secondGrader: { include: { user: true } },
} satisfies Prisma.SubmissionInclude

const LONGEST_FIRST = [{ submittedAt: 'asc' }, { id: 'asc' }] satisfies Prisma.SubmissionOrderByWithRelationInput[]

type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** A submission that waits to be graded. `progress`: null for those who may not grade it (yet). */
export type Queued = Row & { progress: Progress | null }

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
      const given = await findGiven(ctx, ids)
      return rows.map((row) => toQueued(ctx, row, given.get(row.id)!))
    },
  )
}

/** The paper of a submission and what counts of its grades. */
type Given = { paper: { number: number; points: number }[]; grades: GradeRow[] }

function toQueued(ctx: Context, row: Row, { paper, grades }: Given): Queued {
  const round = roundOf(ctx, row)
  return { ...row, progress: round && progressOf(round, row, paper, grades) }
}

/** By the ids of the submissions. A page of them has thousands of questions and grades: as JSON these cost a tenth of what typed rows do. */
async function findGiven({ db, organization }: Context, ids: string[]): Promise<Map<string, Given>> {
  const own = Prisma.sql`organization_id = ${organization.id}::uuid AND submission_id = of.id`
  const rows = await db.$queryRaw<{ id: string; given: Given }[]>`
    SELECT of.id::text, json_build_object(
      'paper', (SELECT coalesce(json_agg(json_build_object('number', number, 'points', points) ORDER BY number), '[]')
        FROM paper_questions WHERE ${own}),
      'grades', (SELECT coalesce(json_agg(json_build_object('questionNumber', question_number, 'round', round, 'graderId', grader_id,
          'points', points, 'comment', '') ORDER BY updated_at, id), '[]')
        FROM (
          SELECT DISTINCT ON (question_number, round, grader_id) * FROM grades WHERE ${own}
          ORDER BY question_number, round, grader_id, updated_at DESC, id DESC
        ) AS newest)
    ) AS given
    FROM unnest(${ids}::uuid[]) AS of (id)`
  return new Map(rows.map(({ id, given }) => [id, given]))
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
