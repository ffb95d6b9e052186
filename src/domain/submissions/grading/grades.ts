import type { Grade } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import type { Graded, Round } from './access.ts'
import { type GradeRow, haveBothGraded } from './totals.ts'

/** A grade with who has given it. */
export type GivenGrade = GradeRow & { id: string; name: string; createdAt: Date; updatedAt: Date }

/** All grades of a submission, oldest first by when they were last changed. */
export async function findGrades({ db, organization }: Context, submissionId: string): Promise<GivenGrade[]> {
  const rows = await db.grade.findMany({
    where: { organizationId: organization.id, submissionId },
    include: { grader: { include: { user: true } } },
    orderBy: [{ updatedAt: 'asc' }, { id: 'asc' }],
  })
  return rows.map(({ grader, ...row }) => ({ ...toRow(row), name: nameOf(grader.user) }))
}

const toRow = ({ id, questionNumber, round, graderId, points, comment, createdAt, updatedAt }: Grade) => ({
  id,
  questionNumber,
  round: round as Round,
  graderId,
  points: points === null ? null : Number(points),
  comment,
  createdAt,
  updatedAt,
})

export const nameOf = ({ firstName, lastName, email }: { firstName: string; lastName: string; email: string }): string =>
  `${firstName} ${lastName}`.trim() || email

/** Those of the grades that a grader of that round may see: of two graders neither sees the other's until both have graded everything. */
export function visibleTo(
  round: Round,
  { assessment }: Pick<Graded, 'assessment'>,
  paper: readonly { number: number; points: number }[],
  grades: readonly GivenGrade[],
): GivenGrade[] {
  const seesAll = !assessment.secondGrader || round === 3 || haveBothGraded(paper, grades)
  return grades.filter((grade) => seesAll || grade.round === round)
}
