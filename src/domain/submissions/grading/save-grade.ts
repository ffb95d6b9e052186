import { checkText, findIssues } from '../../checking/checks.ts'
import { refuse } from '../../checking/refuse.ts'
import type { Context } from '../../context.ts'
import type { Issue, Violation } from '../../errors.ts'
import { MAX_COMMENT_LENGTH } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { findGrades, type GivenGrade, visibleTo } from './grades.ts'
import { findPaper, type Graded, lockHandedIn, type Round, refuseUnknown, requireRound } from './rounds.ts'
import { noteViewer } from './viewers.ts'

/** A grader's change of their own grade within so long of it corrects that; a later one is another. */
const CORRECTED_WITHIN_MS = 15 * 60_000

/** @param points in steps of 0.5; null: not graded (yet). @param seen up to when the grader has seen the grades that there are. */
export type NewGrade = { submissionId: string; number: number; points: number | null; comment: string; seen: Date }

export type Saved = {
  /** False where the grader has graded the question since `seen`, in another window: nothing was changed. */
  isSaved: boolean
  /** The grader's newest grade of the question, as it is now. */
  own: GivenGrade | undefined
  /** The grades that others have given for it in the same place since `seen`. */
  others: GivenGrade[]
  /** Up to when the grader has seen its grades with this answer. */
  seen: Date
}

/**
 * Saves a grade of an answer. What others have given stays beside it.
 *
 * @throws DomainError not_permitted; submission_not_found, also for a question that the paper does not have; invalid (rule `account`:
 *   points, released).
 */
export async function saveGrade(ctx: Context, { submissionId, number, points, comment, seen }: NewGrade): Promise<Saved> {
  return inTransaction(ctx, async (inside) => {
    const submission = await lockHandedIn(inside, submissionId)
    const round = requireRound(inside, submission)
    refuseReleased(submission)
    const paper = await findPaper(inside, submissionId)
    const question = paper.find((one) => one.number === number) ?? refuseUnknown()
    refuse(
      findIssues([
        ['points', checkPoints(points, question.points)],
        ['comment', checkText(comment, MAX_COMMENT_LENGTH)],
      ]),
    )
    const isSaved = await write(inside, { submissionId, number, round, points, comment }, seen)
    await noteViewer(inside, submissionId)
    const visible = visibleTo(round, submission, paper, await findGrades(inside, submissionId))
    const given = visible.filter(({ questionNumber }) => questionNumber === number)
    const me = graderOf(inside)
    return {
      isSaved,
      own: given.findLast((grade) => grade.graderId === me && grade.round === round),
      others: given.filter((grade) => grade.round === round && grade.graderId !== me && !(grade.updatedAt <= seen)),
      seen: given.reduce((last, { updatedAt }) => (last >= updatedAt ? last : updatedAt), seen),
    }
  })
}

/** @throws DomainError invalid (rule `account`: released). */
export function refuseReleased({ state }: Pick<Graded, 'state'>): void {
  refuse(state === 'released' ? [about('released')] : [])
}

/** What stands in the way of grading, or of a result. @param limit the number of the question it is about, or the points. */
export const about = (problem: Problem, limit = 0): Issue => ({ field: '', rule: 'account', problem, limit })

type Problem = 'released' | 'notReleased' | 'ungraded' | 'undecided' | 'regraded' | 'otherPoints'

/** In steps of 0.5; null: not graded. */
export const checkPoints = (points: number | null, most: number): Violation | undefined =>
  points === null || (Number.isInteger(points * 2) && points >= 0 && points <= most)
    ? undefined
    : { rule: 'account', problem: 'points', limit: most }

/** The member who grades: nobody else may. */
export function graderOf({ actor }: Context): string {
  return actor.kind === 'member' ? actor.id : refuseUnknown()
}

type Row = { submissionId: string; number: number; round: Round; points: number | null; comment: string }

/** @returns false when the grader has not seen their own newest grade, and this one differs. */
async function write(ctx: Context, { submissionId, number, round, points, comment }: Row, seen: Date): Promise<boolean> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const own = { organizationId: organization.id, submissionId, questionNumber: number, graderId: graderOf(ctx), round }
  const newest = await db.grade.findFirst({ where: own, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] })
  if (newest && newest.comment === comment && (newest.points === null ? null : Number(newest.points)) === points) return true
  if (newest && !(newest.updatedAt <= seen)) return false
  if (newest && now.getTime() - newest.createdAt.getTime() < CORRECTED_WITHIN_MS) {
    await db.grade.updateMany({ where: { ...own, id: newest.id }, data: { points, comment, updatedAt: now } })
    return true
  }
  if (!newest && points === null && comment === '') return true
  await db.grade.create({ data: { id: deps.newId(), ...own, points, comment, createdAt: now, updatedAt: now } })
  return true
}
