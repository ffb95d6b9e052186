import { Prisma } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { type FailedItem, refuseFailed, workOnEach } from '../in-halves.ts'
import { UPLOAD_GRACE_SECONDS } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { queueJoin } from './queue-join.ts'

// How recordings end: each with what has arrived of it.

export const countParts = ({ db, organization }: Context, mediaId: string): Promise<number> =>
  db.mediaPart.count({ where: { organizationId: organization.id, mediaId } })

/**
 * Ends the attempts that are still going on, of one question or of all: those of which something has arrived stand from now on, see answer.ts.
 * What was recorded in time may arrive for a while yet, so that the rest is left to {@link settleOverdueRecordings}: they have ended now all
 * the same, before any attempt that begins later. Those that the candidate had not stopped were cut off.
 */
export async function completeOpenRecordings(
  { db, deps, organization }: Context,
  submissionId: string,
  number?: number,
): Promise<void> {
  const ofQuestion = number === undefined ? Prisma.empty : Prisma.sql`AND t.question_number = ${number}`
  await db.$executeRaw`
    UPDATE takes t SET completed_at = COALESCE(t.completed_at, ${deps.clock()}), cut_off = t.cut_off OR t.completed_at IS NULL,
      state = CASE WHEN EXISTS (
        SELECT FROM media_parts p WHERE p.organization_id = t.organization_id AND p.media_id = t.media_id
      ) THEN 'complete'::take_state ELSE t.state END
    WHERE t.organization_id = ${organization.id}::uuid AND t.submission_id = ${submissionId}::uuid ${ofQuestion} AND t.state = 'recording'`
}

/**
 * Ends a recording in the open transaction with what is there: to be joined or, of which nothing has arrived, abandoned.
 *
 * @param toldParts how many parts each segment has, where the browser has said so.
 * @param isStopped the candidate has stopped it; otherwise it was cut off, unless they had said before that they stopped it.
 */
export async function settleRecording(
  ctx: Context,
  mediaId: string,
  { toldParts = [], isStopped = false }: { toldParts?: number[]; isStopped?: boolean } = {},
): Promise<void> {
  const { db, deps, organization } = ctx
  const organizationId = organization.id
  await holdRecording(ctx, mediaId)
  if ((await countParts(ctx, mediaId)) === 0) return abandon(ctx, mediaId)
  const completedAt = deps.clock()
  const { count } = await db.media.updateMany({
    where: { organizationId, id: mediaId, state: 'uploading' },
    data: { state: 'joining', completedAt, toldParts },
  })
  if (count === 0) return
  await db.$executeRaw`
    UPDATE takes SET state = 'complete', completed_at = COALESCE(completed_at, ${completedAt}),
      cut_off = NOT ${isStopped} AND (cut_off OR completed_at IS NULL)
    WHERE organization_id = ${organizationId}::uuid AND media_id = ${mediaId}::uuid AND state <> 'abandoned'`
  await queueJoin(ctx, { id: mediaId, organizationId })
}

/** Locks a recording: a part that is being taken is known by then, or is refused. */
export const holdRecording = ({ db, organization }: Context, mediaId: string): Promise<unknown> =>
  db.$queryRaw`SELECT id FROM media WHERE organization_id = ${organization.id}::uuid AND id = ${mediaId}::uuid FOR NO KEY UPDATE`

/** Its files go with the next sweep. */
export async function abandon({ db, deps, organization }: Context, mediaId: string): Promise<void> {
  const organizationId = organization.id
  const deleted = { state: 'deleted', deletedAt: deps.clock() } as const
  const { count } = await db.media.updateMany({ where: { organizationId, id: mediaId, state: 'uploading' }, data: deleted })
  if (count > 0) await db.take.updateMany({ where: { organizationId, mediaId }, data: { state: 'abandoned', completedAt: null } })
}

/** For so long a recording without an end may rest: its candidate may come back, and send what the browser has kept. */
const REST_MS = 24 * 3_600_000
const SETTLED_AT_ONCE = 200

type Overdue = { mediaId: string; createdAt: Date } & Context['organization']

/**
 * Ends the recordings, of all organizations, for which nothing more is taken: their time and that of uploading is over, or nothing has come
 * for a day. For the scheduled sweep.
 *
 * @returns how many.
 */
export async function settleOverdueRecordings(system: ServiceContext): Promise<number> {
  let settled = 0
  const failed: FailedItem<Overdue>[] = []
  for (let after: Overdue | undefined; ; ) {
    const overdue = await findOverdue(system, after)
    const failedNow = await workOnEach(overdue, ({ mediaId, createdAt: _, ...organization }) =>
      inTransaction({ ...system, organization }, (inside) => settleRecording(inside, mediaId)),
    )
    settled += overdue.length - failedNow.length
    failed.push(...failedNow)
    if (overdue.length < SETTLED_AT_ONCE) break
    after = overdue.at(-1)
  }
  refuseFailed(failed)
  return settled
}

function findOverdue({ db, deps }: ServiceContext, after: Overdue | undefined): Promise<Overdue[]> {
  const now = deps.clock().getTime()
  const ended = new Date(now - UPLOAD_GRACE_SECONDS * 1_000)
  const rested = new Date(now - REST_MS)
  const further = after ? Prisma.sql`AND (m.created_at, m.id) > (${after.createdAt}, ${after.mediaId}::uuid)` : Prisma.empty
  return db.$queryRaw<Overdue[]>`
    SELECT m.id AS "mediaId", m.created_at AS "createdAt", o.id, o.name, o.tier
    FROM media m
    JOIN organizations o ON o.id = m.organization_id
    JOIN submissions s ON s.organization_id = m.organization_id AND s.id = m.submission_id
    LEFT JOIN takes t ON t.organization_id = m.organization_id AND t.media_id = m.id
    LEFT JOIN paper_questions q
      ON q.organization_id = t.organization_id AND q.submission_id = t.submission_id AND q.number = t.question_number
    WHERE m.state = 'uploading' AND m.kind IN ('answer', 'webcam', 'screen') AND (
      LEAST(q.closed_at, q.closes_at, s.submitted_at, s.deadline_at) <= ${ended}
      OR m.created_at <= ${rested} AND NOT EXISTS (
        SELECT FROM media_parts p WHERE p.organization_id = m.organization_id AND p.media_id = m.id AND p.created_at > ${rested}
      )
    ) ${further}
    ORDER BY m.created_at, m.id LIMIT ${SETTLED_AT_ONCE}`
}
