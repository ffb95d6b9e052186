import { type PaperQuestion, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { UPLOAD_GRACE_SECONDS } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import type { PreparedSession } from './session.ts'
import { requireSharedScreen } from './sharing.ts'

export type { PaperQuestion }

/** Copies the questions of the assessment as they are now, in the order in which they are answered: numbers 1 to n. */
export async function copyPaper(
  { db, organization }: Pick<Context, 'db' | 'organization'>,
  { submissionId, assessmentId }: { submissionId: string; assessmentId: string },
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO paper_questions (
      submission_id, number, organization_id, question_id, input_type, response_type, script, audio_url, video_url, points, time_limit,
      source_language, target_language
    )
    SELECT ${submissionId}::uuid, row_number() OVER (ORDER BY "order", id), organization_id, id, input_type, response_type, script,
      audio_url, video_url, points, time_limit, source_language, target_language
    FROM questions WHERE organization_id = ${organization.id}::uuid AND assessment_id = ${assessmentId}::uuid`
}

type Timed = Pick<PaperQuestion, 'openedAt' | 'closesAt' | 'closedAt'>

/** Whether a question takes answers: it was opened, the candidate has not gone on, and its time is not over. */
export const isOpen = ({ openedAt, closesAt, closedAt }: Timed, now: Date): boolean =>
  openedAt !== null && closedAt === null && (closesAt === null || now < closesAt)

/** SQL: the same of the row `p`. */
export const openAt = (now: Date): Prisma.Sql =>
  Prisma.sql`(p.opened_at IS NOT NULL AND p.closed_at IS NULL AND (p.closes_at IS NULL OR p.closes_at > ${now}))`

/**
 * SQL: the row `p` takes a text that was typed in time: it is open, or its time, and not its candidate, has ended it no longer ago than
 * recordings may be uploaded.
 */
export function openOrJustOverAt(now: Date): Prisma.Sql {
  const over = new Date(now.getTime() - UPLOAD_GRACE_SECONDS * 1_000)
  return Prisma.sql`(p.opened_at IS NOT NULL AND (p.closed_at IS NULL OR p.closed_at = p.closes_at)
    AND (p.closes_at IS NULL OR p.closes_at > ${over}))`
}

/** Where a candidate is: at an open question, before the next one, or (neither) at the end. */
export function findPosition<Q extends Timed>(paper: readonly Q[], now: Date): { open: Q | undefined; next: Q | undefined } {
  const open = paper.find((question) => isOpen(question, now))
  return { open, next: open ? undefined : paper.find(({ openedAt }) => openedAt === null) }
}

/**
 * Opens a question: its time begins, and never goes beyond that of the whole. Only the next one can be opened, once those before it are
 * closed; otherwise nothing happens.
 *
 * @throws DomainError session_refused (not_shared).
 */
export async function openQuestion(session: PreparedSession, number: number): Promise<void> {
  const { ctx, submission } = session
  const now = ctx.deps.clock()
  await inTransaction(ctx, async (inside) => {
    const { db, organization } = inside
    const own = Prisma.sql`organization_id = ${organization.id}::uuid AND submission_id = ${submission.id}::uuid`
    const [held] = await db.$queryRaw<{ deadlineAt: Date | null }[]>`
      SELECT deadline_at AS "deadlineAt" FROM submissions
      WHERE organization_id = ${organization.id}::uuid AND id = ${submission.id}::uuid AND state = 'in_progress' AND consent_at IS NOT NULL
        AND (deadline_at IS NULL OR deadline_at > ${now})
      FOR NO KEY UPDATE`
    if (!held) return
    const [opened] = await db.$queryRaw<{ closesAt: Date | null }[]>`
      UPDATE paper_questions SET opened_at = ${now},
        closes_at = LEAST(${now}::timestamptz + NULLIF(time_limit, 0) * interval '1 second', ${held.deadlineAt}::timestamptz)
      WHERE ${own} AND number = ${number} AND opened_at IS NULL AND NOT EXISTS (
        SELECT FROM paper_questions p
        WHERE p.organization_id = ${organization.id}::uuid AND p.submission_id = ${submission.id}::uuid AND p.number < ${number}
          AND (p.opened_at IS NULL OR ${openAt(now)})
      )
      RETURNING closes_at AS "closesAt"`
    if (!opened) return
    await requireSharedScreen(inside, session)
    if (!opened.closesAt || held.deadlineAt) return
    // After the end of the last question nothing can be answered any more: that is the end of the whole.
    await db.$executeRaw`
      UPDATE submissions SET deadline_at = ${opened.closesAt}
      WHERE organization_id = ${organization.id}::uuid AND id = ${submission.id}::uuid
        AND NOT EXISTS (SELECT FROM paper_questions WHERE ${own} AND number > ${number})`
  })
}

/** Closes a question for good, by its time if that is over already. One that is not open stays as it is. */
export async function closeQuestion({ ctx, submission }: PreparedSession, number: number): Promise<void> {
  const { db, deps, organization } = ctx
  await db.$executeRaw`
    UPDATE paper_questions SET closed_at = LEAST(${deps.clock()}::timestamptz, closes_at)
    WHERE organization_id = ${organization.id}::uuid AND submission_id = ${submission.id}::uuid AND number = ${number}
      AND opened_at IS NOT NULL AND closed_at IS NULL`
}

/** @returns the question if it is open now. */
export async function findOpenQuestion({ ctx, submission }: PreparedSession, number: number): Promise<PaperQuestion | null> {
  const { db, deps, organization } = ctx
  const where = { organizationId: organization.id, submissionId: submission.id, number }
  const question = await db.paperQuestion.findFirst({ where })
  return question && isOpen(question, deps.clock()) ? question : null
}
