import type { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { AMOUNTS, MAX_INTEGER, MAX_NAME_LENGTH, MAX_POOLS } from '../limits.ts'
import { checkInteger, checkName, checkSize, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { numberQuestions } from './order-questions.ts'
import { maximumOf, type Rubric } from './rubric.ts'
import { changeStructure } from './sections.ts'
import { type AssessmentPool, inStructure, type PlacedQuestion, type Structure } from './structure.ts'

/** A pool as people write it: each candidate gets `draw` of these questions, each worth `points`. */
export type PoolInput = { name: string; draw: number; points: number; questionIds: string[] }
export type PoolRef = { assessmentId: string; poolId: string }

/** Makes a pool of questions of one section. @returns its id. @throws DomainError not_permitted; assessment_not_found; invalid. */
export const addPool = (ctx: Context, assessmentId: string, input: PoolInput): Promise<string> =>
  changeStructure(ctx, assessmentId, 'added_pool', async (inside, structure) => {
    throwIfIssues(findIssues([['name', checkSize('maxItems', structure.pools.length + 1, MAX_POOLS)]]))
    const id = inside.deps.newId()
    throwIfIssues(await findPoolIssues(inside, structure, id, input))
    const { name, draw, points } = input
    await inside.db.assessmentPool.create({
      data: { organizationId: inside.organization.id, id, assessmentId, name, draw, points },
    })
    await fillPool(inside, structure, id, input)
    return id
  })

/**
 * Changes a pool and its questions; a question that is taken out keeps its points.
 *
 * @throws DomainError not_permitted; assessment_not_found, also for the pool; invalid.
 */
export const updatePool = (ctx: Context, { assessmentId, poolId }: PoolRef, input: PoolInput): Promise<void> =>
  changeStructure(ctx, assessmentId, 'updated_pool', async (inside, structure) => {
    const pool = poolIn(structure, poolId)
    throwIfIssues(await findPoolIssues(inside, structure, pool.id, input))
    const { name, draw, points } = input
    await inside.db.assessmentPool.updateMany({ where: rowOf(pool), data: { name, draw, points } })
    await fillPool(inside, structure, pool.id, input)
  })

/** Deletes a pool: every candidate gets its questions. @throws DomainError not_permitted; assessment_not_found, also for the pool. */
export const deletePool = (ctx: Context, { assessmentId, poolId }: PoolRef): Promise<void> =>
  changeStructure(ctx, assessmentId, 'deleted_pool', async (inside, { sections, pools, questions }) => {
    const pool = poolIn({ pools }, poolId)
    const freed = questions.map((question) => (question.poolId === pool.id ? { ...question, poolId: null } : question))
    throwIfIssues(findIssues([['', checkInteger(sumOf(freed), AMOUNTS)]]))
    await numberQuestions(inside, inStructure(freed, sections))
    await inside.db.assessmentPool.deleteMany({ where: rowOf(pool) })
  })

/** @throws DomainError assessment_not_found. */
export function poolIn({ pools }: Pick<Structure, 'pools'>, id: string): AssessmentPool {
  const pool = pools.find((candidate) => candidate.id === id)
  if (!pool) throw new DomainError('assessment_not_found')
  return pool
}

const rowOf = ({ organizationId, id }: AssessmentPool): Prisma.AssessmentPoolWhereInput => ({ organizationId, id })

const sumOf = (questions: readonly PlacedQuestion[]): number => questions.reduce((sum, { points }) => sum + points, 0)

async function findPoolIssues(
  { db, organization }: Context,
  { questions }: Structure,
  poolId: string,
  { name, draw, points, questionIds }: PoolInput,
): Promise<Issue[]> {
  const members = questions.filter(({ id }) => questionIds.includes(id))
  const otherQuestions = questions.filter(({ id }) => !questionIds.includes(id))
  const most = Math.floor((MAX_INTEGER - sumOf(otherQuestions)) / Math.max(1, members.length))
  const issues = findIssues([
    ['name', checkName(name, MAX_NAME_LENGTH)],
    ['questions', members.length === 0 ? { rule: 'required' } : undefined],
    ['draw', checkInteger(draw, { minimum: 1, maximum: Math.max(1, members.length) })],
    ['points', checkInteger(points, { minimum: 0, maximum: most })],
  ])
  if (issues.length > 0) return issues
  const malformed = (field: string, text: string): Issue => ({ field, rule: 'malformed', text })
  if (new Set(members.map(({ sectionId }) => sectionId)).size > 1)
    return [malformed('questions', 'Choose questions of one section only.')]
  if (members.some((member) => member.poolId !== null && member.poolId !== poolId))
    return [malformed('questions', 'Choose questions that are in no other pool.')]
  const where = { organizationId: organization.id, id: { in: members.map(({ id }) => id) } }
  const found = await db.question.findMany({ where, select: { order: true, rubric: true }, orderBy: { order: 'asc' } })
  const wrong = found.find(({ rubric }) => rubric && maximumOf(rubric as Rubric) !== points)
  return wrong
    ? [
        malformed(
          'points',
          `The rubric of question ${wrong.order} adds up to other points. Change the rubric or the pool’s points.`,
        ),
      ]
    : []
}

async function fillPool(
  ctx: Context,
  { sections, questions }: Structure,
  poolId: string,
  { points, questionIds }: PoolInput,
): Promise<void> {
  const { db, deps, organization } = ctx
  const filled = questions.map((question) => {
    if (questionIds.includes(question.id)) return { ...question, poolId }
    return question.poolId === poolId ? { ...question, poolId: null } : question
  })
  await numberQuestions(ctx, inStructure(filled, sections))
  const where = { organizationId: organization.id, poolId, points: { not: points } }
  await db.question.updateMany({ where, data: { points, updatedAt: deps.clock() } })
}
