import { queryRows } from '../../../db/client.ts'
import { anyOf } from '../../../db/query.ts'
import { Prisma } from '../../../generated/prisma/client.ts'
import { isGrader } from '../../access/graders.ts'
import { authorize, may } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { type Named, readNames, type Wanted } from '../../invites/choices.ts'
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
  const { db, organization } = ctx
  const waiting = waitingIn(ctx, filter)
  return readPage(
    page,
    () => countWaiting(ctx, filter),
    async ({ skip, take }) => {
      // First which: related rows would otherwise be looked up for all the pages before, too.
      const found = await db.$queryRaw<{ id: string }[]>`
        SELECT s.id ${waiting} ORDER BY s.submitted_at, s.id LIMIT ${take} OFFSET ${skip}`
      const ids = found.map(({ id }) => id)
      const where = { organizationId: organization.id, id: anyOf(ids) }
      const rows = await db.submission.findMany({ where, include, orderBy: LONGEST_FIRST, relationLoadStrategy: 'join' })
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
  const queues = queuesOf(ctx)
  const counts = queues.map((whose) => Prisma.sql`(SELECT count(*) ${waitingIn(ctx, { whose })})::int AS ${Prisma.raw(whose)}`)
  const [counted] = await queryRows<Record<Whose, number>>(ctx.db, Prisma.sql`SELECT ${Prisma.join(counts)}`)
  return queues.map((whose) => ({ whose, count: counted![whose] }))
}

async function countWaiting(ctx: Context, filter: QueueFilter): Promise<number> {
  const statement = Prisma.sql`SELECT count(*)::int AS count ${waitingIn(ctx, filter)}`
  const [counted] = await queryRows<{ count: number }>(ctx.db, statement)
  return counted!.count
}

/** The queues that the context's actor may see. */
export const queuesOf = (ctx: Context): Whose[] => QUEUES.filter((queue) => queue !== 'all' || may(ctx, 'read'))

/** The assessments of which something waits in that queue, by name. @throws DomainError not_permitted. */
export async function listQueuedAssessments(ctx: Context, whose: Whose, wanted: Wanted = {}): Promise<Named[]> {
  authorize(ctx, 'grade')
  return readNames(
    ctx,
    Prisma.sql`
      SELECT id, name FROM assessments
      WHERE organization_id = ${ctx.organization.id}::uuid AND id IN (SELECT s.assessment_id ${waitingIn(ctx, { whose })})`,
    wanted,
  )
}

/** SQL: from where, and which submissions `s`, the queue has. */
function waitingIn(ctx: Context, { whose, assessmentId }: QueueFilter): Prisma.Sql {
  const organizationId = ctx.organization.id
  const ofOne = assessmentId !== undefined && isUuid(assessmentId)
  return Prisma.sql`FROM submissions s WHERE s.organization_id = ${organizationId}::uuid AND s.state = 'submitted'
    ${ofOne ? Prisma.sql`AND s.assessment_id = ${assessmentId}::uuid` : Prisma.empty} ${whose === 'all' ? Prisma.empty : Prisma.sql`AND (${ofWhom()})`}`

  function ofWhom(): Prisma.Sql {
    const me = Prisma.sql`${graderOf(ctx)}::uuid`
    if (whose === 'mine') return Prisma.sql`s.grader_id = ${me} OR s.second_grader_id = ${me}`
    const isTwice = Prisma.sql`EXISTS (
      SELECT FROM assessments a WHERE a.organization_id = ${organizationId}::uuid AND a.id = s.assessment_id AND a.second_grader)`
    return Prisma.sql`${isFree(Prisma.sql`s.grader_id`)} OR s.grader_id <> ${me} AND ${isFree(Prisma.sql`s.second_grader_id`)} AND ${isTwice}`
  }

  /** The place of one who may not grade any more is free, see holderOf. */
  function isFree(id: Prisma.Sql): Prisma.Sql {
    return Prisma.sql`(${id} IS NULL OR NOT ${isGrader(ctx, id)})`
  }
}
