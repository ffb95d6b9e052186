import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { type Listing, type Page, readPage } from '../../page.ts'
import { findHandedIn, findPaper, type Graded, type Round, refuseUnknown, requireRound } from './access.ts'
import { type GradeRow, haveBothGraded } from './totals.ts'

/** A grade with who has given it. */
export type GivenGrade = GradeRow & { id: string; name: string; createdAt: Date; updatedAt: Date }

/** The one that stands of a grader's for a question. @property earlier how many it has taken the place of. */
export type NewestGrade = GivenGrade & { earlier: number }

/** What stands of those of a submission: of each grader, in each round, the newest. Whatever came before them costs nothing but counting. */
export async function findGrades({ db, organization }: Context, submissionId: string): Promise<NewestGrade[]> {
  const rows = await db.$queryRaw<(Omit<NewestGrade, 'name'> & Parameters<typeof nameOf>[0])[]>`
    SELECT g.id, g.question_number AS "questionNumber", g.round::int, g.grader_id AS "graderId", g.points::float8, g.comment,
      g.created_at AS "createdAt", g.updated_at AS "updatedAt", g.earlier, u.first_name AS "firstName", u.last_name AS "lastName", u.email
    FROM (
      SELECT *, row_number() OVER (grader ORDER BY updated_at DESC, id DESC) AS place, (count(*) OVER grader)::int - 1 AS earlier
      FROM grades WHERE organization_id = ${organization.id}::uuid AND submission_id = ${submissionId}::uuid
      WINDOW grader AS (PARTITION BY question_number, round, grader_id)
    ) AS g
    JOIN members m ON m.organization_id = g.organization_id AND m.id = g.grader_id
    JOIN users u ON u.id = m.user_id
    WHERE g.place = 1
    ORDER BY g.updated_at, g.id`
  return rows.map(({ firstName, lastName, email, ...row }) => ({ ...row, name: nameOf({ firstName, lastName, email }) }))
}

/**
 * All that were ever given for a question, as far as the grader may see them, newest first.
 *
 * @throws DomainError not_permitted; submission_not_found, also for a question that the paper does not have.
 */
export async function listGrades(
  ctx: Context,
  { submissionId, number }: { submissionId: string; number: number },
  page: Page,
): Promise<Listing<GivenGrade>> {
  const submission = await findHandedIn(ctx, submissionId)
  const round = requireRound(ctx, submission)
  const paper = await findPaper(ctx, submissionId)
  if (!paper.some((question) => question.number === number)) refuseUnknown()
  const isOpen = seesAll(round, submission, paper, await findGrades(ctx, submissionId))
  const own = { organizationId: ctx.organization.id, submissionId, questionNumber: number }
  const where = { ...own, ...(!isOpen && { round }) } satisfies Prisma.GradeWhereInput
  const include = { grader: { include: { user: true } } } satisfies Prisma.GradeInclude
  const orderBy = [{ updatedAt: 'desc' }, { id: 'desc' }] satisfies Prisma.GradeOrderByWithRelationInput[]
  return readPage(
    page,
    () => ctx.db.grade.count({ where }),
    async (window) => {
      const rows = await ctx.db.grade.findMany({ where, include, orderBy, ...window })
      return rows.map(({ grader, points, round, ...row }) => ({
        ...row,
        round: round as Round,
        points: points === null ? null : Number(points),
        name: nameOf(grader.user),
      }))
    },
  )
}

export const nameOf = ({ firstName, lastName, email }: { firstName: string; lastName: string; email: string }): string =>
  `${firstName} ${lastName}`.trim() || email

type Terms = { assessment: Pick<Graded['assessment'], 'secondGrader'> }
type Paper = readonly { number: number; points: number }[]

/** Whether a grader of that round may see all grades: of two graders neither sees the other's until both have graded everything. */
export const seesAll = (round: Round, { assessment }: Terms, paper: Paper, grades: readonly GradeRow[]): boolean =>
  !assessment.secondGrader || round === 3 || haveBothGraded(paper, grades)

/** Those of the grades that a grader of that round may see. */
export const visibleTo = <G extends GradeRow>(round: Round, terms: Terms, paper: Paper, grades: readonly G[]): G[] => {
  const isOpen = seesAll(round, terms, paper, grades)
  return grades.filter((grade) => isOpen || grade.round === round)
}
