import type { AssessmentPool, AssessmentSection } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../text/uuid.ts'

export type { AssessmentPool, AssessmentSection }

/** A question with its place in the structure. */
export type PlacedQuestion = { id: string; sectionId: string | null; poolId: string | null; points: number }

/** Sections, pools, and questions of an assessment, in their order. */
export type Structure = { sections: AssessmentSection[]; pools: AssessmentPool[]; questions: PlacedQuestion[] }

/** @throws DomainError not_permitted; assessment_not_found. */
export async function getStructure(ctx: Context, assessmentId: string): Promise<Structure> {
  authorize(ctx, 'read_assessments')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  if (!isUuid(assessmentId) || (await ctx.db.assessment.count({ where })) === 0) throw new DomainError('assessment_not_found')
  return readStructure(ctx, assessmentId)
}

export async function readStructure({ db, organization }: Context, assessmentId: string): Promise<Structure> {
  const where = { organizationId: organization.id, assessmentId }
  const sections = await db.assessmentSection.findMany({ where, orderBy: [{ order: 'asc' }, { id: 'asc' }] })
  const pools = await db.assessmentPool.findMany({ where, orderBy: { id: 'asc' } })
  const questions = await db.question.findMany({
    where,
    select: { id: true, sectionId: true, poolId: true, points: true },
    orderBy: [{ order: 'asc' }, { id: 'asc' }],
  })
  return { sections, pools, questions: inStructure(questions, sections) }
}

/** Groups questions by section, and within a section the questions of a pool at the place of its first. */
export function inStructure<Q extends PlacedQuestion>(questions: readonly Q[], sections: readonly { id: string }[]): Q[] {
  const sectionPlace = new Map<string | null, number>(sections.map(({ id }, i) => [id, i]))
  const poolPlace = new Map<string, number>()
  for (const [i, { poolId }] of questions.entries()) if (poolId !== null && !poolPlace.has(poolId)) poolPlace.set(poolId, i)
  const places = questions.map((question, i) => {
    const { sectionId, poolId } = question
    return { question, section: sectionPlace.get(sectionId) ?? -1, pool: poolId === null ? i : poolPlace.get(poolId)!, i }
  })
  return places.sort((a, b) => a.section - b.section || a.pool - b.pool || a.i - b.i).map(({ question }) => question)
}

/**
 * Moves a question to a place, from 1. It joins the section that it lands in, keeps its own at a border, and passes other pools as a whole.
 */
export function placeQuestion<Q extends PlacedQuestion>(questions: readonly Q[], moved: Q, place: number): Q[] {
  const from = questions.indexOf(moved)
  const otherQuestions = questions.filter((question) => question !== moved)
  const index = skipPool(otherQuestions, moved, { from, index: Math.min(place - 1, otherQuestions.length) })
  const [before, after] = [otherQuestions[index - 1], otherQuestions[index]]
  const isAtOwn = [before, after].some((neighbor) => neighbor?.sectionId === moved.sectionId)
  const sectionId = isAtOwn ? moved.sectionId : ((before ?? after)?.sectionId ?? moved.sectionId)
  return otherQuestions.toSpliced(index, 0, inSection(moved, sectionId))
}

/** A question in another section leaves its pool. */
export const inSection = <Q extends PlacedQuestion>(question: Q, sectionId: string | null): Q => ({
  ...question,
  sectionId,
  poolId: sectionId === question.sectionId ? question.poolId : null,
})

/** Place before or behind a pool that a question would otherwise land in. */
function skipPool(
  otherQuestions: readonly PlacedQuestion[],
  moved: PlacedQuestion,
  { from, index }: { from: number; index: number },
): number {
  const poolId = otherQuestions[index]?.poolId ?? null
  if (poolId === null || otherQuestions[index - 1]?.poolId !== poolId || moved.poolId === poolId) return index
  return index < from
    ? otherQuestions.findIndex((question) => question.poolId === poolId)
    : otherQuestions.findLastIndex((question) => question.poolId === poolId) + 1
}
