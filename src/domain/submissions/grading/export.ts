import { Prisma } from '../../../generated/prisma/client.ts'
import { authorize } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { EXPORTED_AT_ONCE, runExport, type Write } from '../../exports.ts'
import { isUuid } from '../../uuid.ts'
import { type Asked, inAskedOrder, presentQuestions, type Unordered } from './asked.ts'
import { countGrades, type GradeRow, percentOf, sumUp } from './totals.ts'

/** A column of the export. */
export type ExportedQuestion = Asked<Unordered>

/** What a candidate has handed in, as it is graded now: released or not. */
export type ExportedGrades = {
  submissionId: string
  inviteId: string
  recipientEmail: string
  recipientName: string | null
  state: 'submitted' | 'released'
  submittedAt: Date | null
  /** By the id of the question: what counts. Those that are not graded, or give no points, are not there. */
  points: Map<string, number>
  /** Null until everything is graded, and where there are no points. */
  total: number | null
  ofPoints: number
  /** How many questions stand in the way of a result: not graded, or to be decided. */
  toGrade: number
  /** A whole number; null where the total is. */
  percent: number | null
  /** Addresses of the members who have given points. */
  graders: string[]
  /** Of the newest release. */
  version: number | null
  releasedAt: Date | null
}

/**
 * The questions that the export of an assessment has columns for: those that it has now, and those removed since that somebody has handed
 * in. For admins.
 *
 * @throws DomainError not_permitted; assessment_not_found.
 */
export async function listExportedQuestions(ctx: Context, assessmentId: string): Promise<ExportedQuestion[]> {
  const { id } = await findExported(ctx, assessmentId)
  const questions = await ctx.db.$queryRaw<Unordered[]>`
    SELECT COALESCE(present.id, asked.id) AS id, place, COALESCE(asked.number, 0) AS number
    FROM (${presentQuestions(ctx, id)}) AS present
    FULL JOIN (
      SELECT p.question_id AS id, max(p.number) AS number
      FROM submissions s
      JOIN paper_questions p ON p.organization_id = s.organization_id AND p.submission_id = s.id
      WHERE ${handedIn(ctx, id)}
      GROUP BY p.question_id
    ) AS asked ON asked.id = present.id`
  return inAskedOrder(questions)
}

/**
 * Exports what was handed in for an assessment with the points that count now, in the order of the ids.
 *
 * @throws DomainError not_permitted; assessment_not_found; too_many_exports.
 */
export async function exportGrades(ctx: Context, assessmentId: string, write: Write<ExportedGrades>): Promise<void> {
  const { id, secondGrader } = await findExported(ctx, assessmentId)
  const exported = { action: 'exported_grades', filter: { assessmentId: id } } as const
  await runExport(ctx, exported, async (last) => (await findRows(ctx, id, last?.submissionId)).map(toExported), write)

  function toExported({ paper, grades, ...row }: Row): ExportedGrades {
    const questions = countGrades(paper, grades, { secondGrader }).filter(({ points }) => points > 0)
    const { points: sum, ofPoints } = sumUp(questions)
    const graded = questions.flatMap(({ questionId, standing }) =>
      standing.state === 'graded' ? [[questionId, standing.points] as const] : [],
    )
    const toGrade = questions.length - graded.length
    const total = toGrade > 0 || ofPoints === 0 ? null : sum
    const percent = total === null ? null : percentOf(total, ofPoints)
    return { ...row, points: new Map(graded), total, ofPoints, toGrade, percent }
  }
}

/** Grades that are not released are for those who may grade whatever there is: admins. */
async function findExported(ctx: Context, assessmentId: string): Promise<{ id: string; secondGrader: boolean }> {
  authorize(ctx, 'grade')
  authorize(ctx, 'read')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const found = isUuid(assessmentId)
    ? await ctx.db.assessment.findFirst({ where, select: { id: true, secondGrader: true } })
    : null
  if (!found) throw new DomainError('assessment_not_found')
  return found
}

const handedIn = ({ organization }: Context, assessmentId: string): Prisma.Sql =>
  Prisma.sql`s.organization_id = ${organization.id}::uuid AND s.assessment_id = ${assessmentId}::uuid AND s.state IN ('submitted', 'released')`

type Row = Omit<ExportedGrades, 'points' | 'total' | 'ofPoints' | 'toGrade' | 'percent'> & {
  paper: { number: number; questionId: string; points: number }[]
  /** Of each grader the newest, see findGrades, oldest first; without their comments, which may be long. */
  grades: GradeRow[]
}

/** Papers and grades as one value each: as rows they would cost the process several times as much. */
function findRows(ctx: Context, assessmentId: string, after: string | undefined): Promise<Row[]> {
  const further = after === undefined ? Prisma.empty : Prisma.sql`AND s.id > ${after}::uuid`
  return ctx.db.$queryRaw<Row[]>`
    SELECT s.id AS "submissionId", s.invite_id AS "inviteId", i.recipient_email AS "recipientEmail", i.recipient_name AS "recipientName",
      s.state, s.submitted_at AS "submittedAt", release.version, release.created_at AS "releasedAt",
      COALESCE(paper.list, '[]') AS paper, COALESCE(given.list, '[]') AS grades,
      ARRAY(
        SELECT DISTINCT m.email FROM grades g JOIN members m ON m.organization_id = g.organization_id AND m.id = g.grader_id
        WHERE g.organization_id = s.organization_id AND g.submission_id = s.id AND g.points IS NOT NULL ORDER BY m.email
      ) AS graders
    FROM (SELECT * FROM submissions s WHERE ${handedIn(ctx, assessmentId)} ${further} ORDER BY s.id LIMIT ${EXPORTED_AT_ONCE}) AS s
    JOIN invites i ON i.organization_id = s.organization_id AND i.id = s.invite_id
    LEFT JOIN LATERAL (
      SELECT version, created_at FROM releases r WHERE r.organization_id = s.organization_id AND r.submission_id = s.id
      ORDER BY version DESC LIMIT 1
    ) AS release ON true
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_object('number', number, 'questionId', question_id, 'points', points) ORDER BY number) AS list
      FROM paper_questions p WHERE p.organization_id = s.organization_id AND p.submission_id = s.id
    ) AS paper
    CROSS JOIN LATERAL (
      SELECT json_agg(
        json_build_object('questionNumber', question_number, 'round', round, 'graderId', grader_id, 'points', points, 'comment', '')
        ORDER BY updated_at, id
      ) AS list
      FROM (
        SELECT DISTINCT ON (question_number, round, grader_id) id, question_number, round, grader_id, points, updated_at
        FROM grades g WHERE g.organization_id = s.organization_id AND g.submission_id = s.id
        ORDER BY question_number, round, grader_id, updated_at DESC, id DESC
      ) AS newest
    ) AS given
    ORDER BY s.id`
}
