import type { Connection } from '../db/client.ts'
import { findFreeNavigationIssues } from '../domain/assessments/free-navigation.ts'
import { maximumOf } from '../domain/assessments/rubric.ts'
import { inStructure } from '../domain/assessments/structure.ts'
import type { ServiceContext } from '../domain/context.ts'
import type { AssessmentEntry, ImportDocument, QuestionEntry } from './format.ts'
import { type FoundRow, rowsIn } from './match.ts'
import type { ImportProblem } from './problems.ts'

// Sections and pools. Questions refer to them by their places in the document, from 1.

/** Validates the sections and pools of a document, and the places of its questions in them. */
export const findStructureProblems = (service: ServiceContext, document: ImportDocument): ImportProblem[] =>
  rowsIn(document.organizations, 'organizations')
    .flatMap(({ path, row }) => rowsIn(row.assessments, `${path}.assessments`))
    .flatMap((assessment) => [...findSectionProblems(service, assessment), ...findPoolProblems(assessment)])

/** Questions in their order, with their paths. */
const questionsOf = ({ path, row }: FoundRow<AssessmentEntry>): FoundRow<QuestionEntry>[] =>
  rowsIn(row.questions, `${path}.questions`).sort((a, b) => (a.row.order ?? 0) - (b.row.order ?? 0))

function findSectionProblems(service: ServiceContext, assessment: FoundRow<AssessmentEntry>): ImportProblem[] {
  const sections = assessment.row.sections ?? []
  let earlier = 0
  return questionsOf(assessment).flatMap(({ path, row }): ImportProblem[] => {
    const { section } = row
    if (section === undefined)
      return sections.length > 0 ? [{ path: `${path}.section`, message: 'is missing: the assessment has sections' }] : []
    if (section > sections.length) return [{ path: `${path}.section`, message: 'is the place of no section of this assessment' }]
    if (section < earlier) return [{ path: `${path}.order`, message: 'must come before the questions of later sections' }]
    earlier = section
    if (sections[section - 1]!.navigation !== 'free') return []
    const { responseType = '', timeLimit = 0, preparationTime = 0, audioUrl = '', videoUrl = '' } = row
    const question = { responseType, timeLimit, preparationTime, audioUrl, videoUrl }
    return findFreeNavigationIssues(service, question).flatMap((issue) =>
      'text' in issue ? [{ path: `${path}.${issue.field}`, message: `is not valid: ${issue.text}` }] : [],
    )
  })
}

function findPoolProblems(assessment: FoundRow<AssessmentEntry>): ImportProblem[] {
  const pools = assessment.row.pools ?? []
  const questions = questionsOf(assessment)
  const ofPool = (place: number) => questions.filter(({ row }) => row.pool === place)
  const names = pools.map(({ name }) => name)
  return [
    ...questions.flatMap(({ path, row: { pool } }) =>
      pool && pool > pools.length ? [{ path: `${path}.pool`, message: 'is the place of no pool of this assessment' }] : [],
    ),
    ...pools.flatMap(({ name, draw, points }, i) => {
      const path = `${assessment.path}.pools[${i}]`
      const members = ofPool(i + 1)
      const places = members.map((member) => questions.indexOf(member))
      const isTogether = places.every((place, j) => j === 0 || place === places[j - 1]! + 1)
      return [
        ...(names.indexOf(name) < i ? [{ path: `${path}.name`, message: 'is the name of another pool of this assessment' }] : []),
        ...(draw > members.length
          ? [{ path: `${path}.draw`, message: `must not be more than its ${members.length} questions` }]
          : []),
        ...(isTogether && new Set(members.map(({ row }) => row.section)).size <= 1
          ? []
          : [{ path, message: 'must have questions of one section that follow one another' }]),
        ...members.flatMap((member) =>
          pointsOf(member.row) === points
            ? []
            : [{ path: `${member.path}.points`, message: `must be the ${points} of its pool` }],
        ),
      ]
    }),
  ]
}

type Stored = { tx: Connection; organizationId: string; ids: ReadonlyMap<object, string> }

/**
 * Validates the stored sections and pools of imported assessments, which a document can leave out. Questions that the document leaves out have
 * paths behind its own.
 *
 * @param ids ids by row of the document.
 */
export async function findStoredStructureProblems(
  service: ServiceContext,
  { tx, organizationId, ids }: Stored,
  assessments: readonly FoundRow<AssessmentEntry>[],
): Promise<ImportProblem[]> {
  const byAssessment = <Row extends { assessmentId: string }>(rows: Row[]) => Map.groupBy(rows, (row) => row.assessmentId)
  const where = { organizationId }
  const allSections = byAssessment(await tx.assessmentSection.findMany({ where, orderBy: { order: 'asc' } }))
  const allPools = byAssessment(await tx.assessmentPool.findMany({ where }))
  const problems: ImportProblem[] = []
  for (const { path, row } of assessments) {
    const assessmentId = ids.get(row)!
    const [sections, pools] = [allSections.get(assessmentId) ?? [], allPools.get(assessmentId) ?? []]
    if (sections.length === 0 && pools.length === 0) continue
    const stored = await tx.question.findMany({
      where: { organizationId, assessmentId },
      orderBy: [{ order: 'asc' }, { id: 'asc' }],
    })
    const order = new Map(inStructure(stored, sections).map(({ id }, i) => [id, i + 1]))
    const paths = new Map((row.questions ?? []).map((entry, i) => [ids.get(entry), i]))
    const inDocument = stored.toSorted((one, other) => (paths.get(one.id) ?? Infinity) - (paths.get(other.id) ?? Infinity) || 0)
    const placeOf = (rows: { id: string }[], id: string | null) =>
      id === null ? undefined : rows.findIndex((candidate) => candidate.id === id) + 1
    const questions = inDocument.map(({ id, sectionId, poolId, rubric: _, ...question }) => ({
      ...{ ...question, order: order.get(id)! },
      ...{ section: placeOf(sections, sectionId), pool: placeOf(pools, poolId) },
    }))
    const assessment = { path, row: { sections, pools, questions } } as FoundRow<AssessmentEntry>
    problems.push(...findSectionProblems(service, assessment), ...findPoolProblems(assessment))
  }
  return problems
}

const pointsOf = ({ points = 0, rubric }: Partial<QuestionEntry>): number => (rubric ? maximumOf(rubric) : points)

/** Ids of an assessment's sections and pools by their places. `undefined`: the document doesn't name them. */
export type WrittenStructure = {
  sectionIds: string[] | undefined
  poolIds: string[] | undefined
  /** Section of a new question that names none. */
  lastSectionId: string | null
}

/** Section and pool of a question. `undefined`: unchanged. */
export const placeIn = ({ sectionIds, poolIds }: WrittenStructure, { section, pool }: QuestionEntry) => ({
  sectionId: sectionIds && (section === undefined ? null : sectionIds[section - 1]!),
  poolId: poolIds && (pool ? poolIds[pool - 1]! : null),
})

type Write = { tx: Connection; newId: () => string; organizationId: string; assessmentId: string }

/** Writes the sections and pools of an assessment. Sections are recognized by their places, pools by their names. */
export async function writeStructure(
  { tx, newId, organizationId, assessmentId }: Write,
  { sections, pools }: AssessmentEntry,
): Promise<WrittenStructure> {
  const key = { organizationId, assessmentId }
  const storedSections = await tx.assessmentSection.findMany({ where: key, orderBy: { order: 'asc' } })
  const storedPools = await tx.assessmentPool.findMany({ where: key })
  const sectionIds = sections?.map((_, i) => storedSections[i]?.id ?? newId())
  const poolIds = pools?.map(({ name }) => storedPools.find((stored) => stored.name === name)?.id ?? newId())
  for (const [i, { name, intro, timeLimit, navigation, shuffle }] of (sections ?? []).entries()) {
    const id = sectionIds![i]!
    const values = {
      name,
      intro: intro ?? '',
      timeLimit: timeLimit ?? 0,
      navigation: navigation ?? 'forward',
      shuffle: shuffle ?? false,
    }
    const where = { organizationId_id: { organizationId, id } }
    await tx.assessmentSection.upsert({
      where,
      create: { ...key, id, order: i + 1, ...values },
      update: { order: i + 1, ...values },
    })
  }
  for (const [i, { name, draw, points }] of (pools ?? []).entries()) {
    const id = poolIds![i]!
    const where = { organizationId_id: { organizationId, id } }
    await tx.assessmentPool.upsert({ where, create: { ...key, id, name, draw, points }, update: { draw, points } })
  }
  return { sectionIds, poolIds, lastSectionId: (sectionIds ?? storedSections.map(({ id }) => id)).at(-1) ?? null }
}

/** Deletes sections and pools that the document no longer names. Questions that it doesn't know leave them. */
export async function deleteOldStructure(
  { tx, organizationId, assessmentId }: Omit<Write, 'newId'>,
  { sectionIds, poolIds, lastSectionId }: WrittenStructure,
): Promise<void> {
  const key = { organizationId, assessmentId }
  if (poolIds) {
    const old = { ...key, poolId: { notIn: poolIds } }
    if ((await tx.question.count({ where: old })) > 0) await tx.question.updateMany({ where: old, data: { poolId: null } })
    await tx.assessmentPool.deleteMany({ where: { ...key, id: { notIn: poolIds } } })
  }
  if (!sectionIds) return
  const old = { ...key, OR: [{ sectionId: { notIn: sectionIds } }, { sectionId: null }] }
  if (lastSectionId !== null || (await tx.question.count({ where: { ...key, sectionId: { not: null } } })) > 0)
    await tx.question.updateMany({ where: old, data: { sectionId: lastSectionId } })
  await tx.assessmentSection.deleteMany({ where: { ...key, id: { notIn: sectionIds } } })
}
