import type { AssessmentPool, AssessmentSection, Question } from '../../src/generated/prisma/client.ts'
import type { Service } from './service.ts'
import { makeAccepted, type Taken } from './taking.ts'

type SectionRow = Partial<AssessmentSection> & { questions: NonNullable<Taken['questions']> }

/** Creates an accepted invite to an assessment with these sections and their questions. */
export async function makeSectioned(service: Service, sections: SectionRow[], of: Omit<Taken, 'questions'> = {}) {
  const made = await makeAccepted(service, { ...of, questions: [] })
  const { assessment, organization } = made
  const sectionIds: string[] = []
  let order = 0
  for (const [i, { questions, ...section }] of sections.entries()) {
    const id = service.deps.newId()
    sectionIds.push(id)
    const row = {
      id,
      organizationId: organization.id,
      assessmentId: assessment.id,
      order: i + 1,
      name: `Part ${i + 1}`,
      ...section,
    }
    await service.db.assessmentSection.create({ data: row })
    for (const question of questions) {
      order++
      await service.make.question(assessment, { order, script: `What is ${order}?`, sectionId: id, ...question })
    }
  }
  const questions = await service.db.question.findMany({ where: { assessmentId: assessment.id }, orderBy: { order: 'asc' } })
  return { ...made, sectionIds, questions }
}

/** Creates a pool of these questions. @returns its id. */
export async function makePool(service: Service, questions: readonly Question[], of: Partial<AssessmentPool> = {}) {
  const [{ organizationId, assessmentId }] = questions as [Question]
  const id = service.deps.newId()
  await service.db.assessmentPool.create({
    data: { organizationId, id, assessmentId, name: 'Pool', draw: 1, points: questions[0]!.points, ...of },
  })
  const where = { organizationId, id: { in: questions.map((question) => question.id) } }
  await service.db.question.updateMany({ where, data: { poolId: id } })
  return id
}

/** Moves a question into a new section and a new pool. */
export async function makeStructure(
  service: Service,
  { questionId, ...of }: { organizationId: string; assessmentId: string; questionId: string },
) {
  const { db, deps } = service
  const sectionId = deps.newId()
  await db.assessmentSection.create({ data: { ...of, id: sectionId, order: 1, name: 'Part 1' } })
  const question = await db.question.findUniqueOrThrow({ where: { id: questionId } })
  const poolId = await makePool(service, [question])
  await db.question.updateMany({ where: { organizationId: of.organizationId, id: questionId }, data: { sectionId } })
  return { sectionId, poolId }
}
