import { maximumOf, type Rubric } from '../domain/assessments/rubric.ts'
import { MAX_INTEGER } from '../domain/limits.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { inBatches } from './batches.ts'
import type { OrganizationEntry } from './format.ts'
import { type FoundRow, type ImportCheck, type Kind, nounOf, rowsIn } from './match.ts'

type Referable = Extract<Kind, 'categories' | 'instructions' | 'members' | 'tags' | 'assessments'>
/** Ids of each kind that the organization has, or will have. */
export type KnownIds = Record<Referable, Set<string>>
type Reference = { path: string; kind: Referable; id: string }

/** Reports ids that refer to no row of the same organization, in the document or the database. */
export function checkReferences({ report }: ImportCheck, organization: FoundRow<OrganizationEntry>, knownIds: KnownIds): void {
  for (const { path, kind, id } of findReferences(organization)) {
    if (!knownIds[kind].has(id)) report(path, `is not the id of any ${nounOf(kind)} of this organization`)
  }
}

function findReferences({ path, row }: FoundRow<OrganizationEntry>): Reference[] {
  return [
    ...rowsIn(row.apiKeys, `${path}.apiKeys`).flatMap((key) => singleReference(key, 'createdById', 'members')),
    ...rowsIn(row.tags, `${path}.tags`).flatMap((tag) => singleReference(tag, 'createdById', 'members')),
    ...rowsIn(row.members, `${path}.members`).flatMap((member) => many(member, 'tagIds', 'tags')),
    ...rowsIn(row.assessments, `${path}.assessments`).flatMap((assessment) => [
      ...singleReference(assessment, 'instructionId', 'instructions'),
      ...many(assessment, 'categoryIds', 'categories'),
      ...many(assessment, 'clientIds', 'members'),
      ...many(assessment, 'tagIds', 'tags'),
      ...singleReference(assessment, 'createdById', 'members'),
    ]),
    ...rowsIn(row.invites, `${path}.invites`).flatMap((invite) => [
      ...singleReference(invite, 'assessmentId', 'assessments'),
      ...singleReference(invite, 'assignedGraderId', 'members'),
      ...many(invite, 'tagIds', 'tags'),
      ...singleReference(invite, 'createdById', 'members'),
    ]),
  ]
}

function singleReference<F extends string>(
  { path, row }: FoundRow<{ [K in F]?: string | null }>,
  field: F,
  kind: Referable,
): Reference[] {
  const id = row[field]
  return id ? [{ path: `${path}.${field}`, kind, id }] : []
}

function many<F extends string>(
  { path, row }: FoundRow<{ [K in F]?: readonly string[] }>,
  field: F,
  kind: Referable,
): Reference[] {
  const ids: readonly (string | undefined)[] = row[field] ?? []
  return ids.flatMap((id, index) => (id ? [{ path: `${path}.${field}[${index}]`, kind, id }] : []))
}

/** The database stores the sum of an assessment's points as an integer. */
export function checkPoints({ report }: ImportCheck, { path, row }: FoundRow<OrganizationEntry>): void {
  for (const assessment of rowsIn(row.assessments, `${path}.assessments`)) {
    const questions = rowsIn(assessment.row.questions, '')
    const total = questions.reduce((sum, question) => sum + (question.row.points ?? 0), 0)
    if (total > MAX_INTEGER) report(`${assessment.path}.questions`, `must not have more than ${MAX_INTEGER} points together`)
  }
}

/** Points alone don't change a question whose rubric makes them. */
export async function checkRubricPoints(
  { db, ids, report }: ImportCheck,
  { path, row }: FoundRow<OrganizationEntry>,
): Promise<void> {
  const questions = rowsIn(row.assessments, `${path}.assessments`)
    .flatMap((assessment) => rowsIn(assessment.row.questions, `${assessment.path}.questions`))
    .filter((question) => question.row.points !== undefined && question.row.rubric === undefined)
  for (const batch of inBatches(questions, BATCH)) {
    const where = { id: { in: batch.flatMap((question) => ids.get(question.row) ?? []) }, rubric: { not: Prisma.DbNull } }
    const stored = await db.question.findMany({ where, select: { id: true, rubric: true } })
    const points = new Map(stored.map(({ id, rubric }) => [id, maximumOf(rubric as unknown as Rubric)]))
    for (const question of batch) {
      const best = points.get(ids.get(question.row) ?? '')
      if (best !== undefined && best !== question.row.points)
        report(
          `${question.path}.points`,
          `must be ${best}, the best levels of the question's rubric, or come with another rubric`,
        )
    }
  }
}

/** Questions per query. */
const BATCH = 5_000
