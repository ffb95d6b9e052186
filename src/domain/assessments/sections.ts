import type { Prisma } from '../../generated/prisma/client.ts'
import { type AuditAction, recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { AMOUNTS, MAX_NAME_LENGTH, MAX_SCRIPT_LENGTH, MAX_SECTIONS } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { checkChoice, checkInteger, checkName, checkSize, checkText, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import type { Assessment } from './assessments.ts'
import { lockAssessment } from './edit-assessments.ts'
import { refuseInFreeSections } from './free-navigation.ts'
import { numberQuestions } from './order-questions.ts'
import { type AssessmentSection, inStructure, readStructure, type Structure } from './structure.ts'

/** A section as people write it. */
export type SectionInput = Pick<AssessmentSection, 'name' | 'intro' | 'timeLimit' | 'navigation' | 'shuffle'>
export type SectionRef = { assessmentId: string; sectionId: string }

export const NAVIGATIONS = ['forward', 'free'] as const

export const EMPTY_SECTION: SectionInput = { name: '', intro: '', timeLimit: 0, navigation: 'forward', shuffle: false }

export const findSectionIssues = ({ name, intro, timeLimit, navigation }: SectionInput): Issue[] =>
  findIssues([
    ['name', checkName(name, MAX_NAME_LENGTH)],
    ['intro', checkText(intro, MAX_SCRIPT_LENGTH)],
    ['timeLimit', checkInteger(timeLimit, AMOUNTS)],
    ['navigation', checkChoice(navigation, NAVIGATIONS)],
  ])

/**
 * Adds a section behind the last. The first section gets all questions.
 *
 * @returns its id. @throws DomainError not_permitted; assessment_not_found; invalid.
 */
export async function addSection(ctx: Context, assessmentId: string, input: SectionInput): Promise<string> {
  throwIfIssues(findSectionIssues(input))
  return changeStructure(ctx, assessmentId, 'added_section', async (inside, { sections, questions }) => {
    throwIfIssues(findIssues([['name', checkSize('maxItems', sections.length + 1, MAX_SECTIONS)]]))
    const id = inside.deps.newId()
    const order = (sections.at(-1)?.order ?? 0) + 1
    const section = { ...input, id, organizationId: inside.organization.id, assessmentId, order }
    if (sections.length === 0) {
      const joining = questions.map((question) => ({ ...question, sectionId: id }))
      await refuseInFreeSections(inside, [section], joining, 'navigation')
      await inside.db.assessmentSection.create({ data: section })
      await numberQuestions(inside, joining)
    } else await inside.db.assessmentSection.create({ data: section })
    return id
  })
}

/** @throws DomainError not_permitted; assessment_not_found, also for the section; invalid. */
export async function updateSection(ctx: Context, { assessmentId, sectionId }: SectionRef, input: SectionInput): Promise<void> {
  throwIfIssues(findSectionIssues(input))
  await changeStructure(ctx, assessmentId, 'updated_section', async (inside, structure) => {
    const section = sectionIn(structure, sectionId)
    const questionsOfSection = structure.questions.filter((question) => question.sectionId === section.id)
    await refuseInFreeSections(inside, [{ ...section, ...input }], questionsOfSection, 'navigation')
    await inside.db.assessmentSection.updateMany({ where: rowOf(section), data: input })
  })
}

/**
 * Deletes a section. Its questions join the one before it, or behind it if it is the first.
 *
 * @throws DomainError not_permitted; assessment_not_found, also for the section; invalid if they can't be in that one.
 */
export async function deleteSection(ctx: Context, { assessmentId, sectionId }: SectionRef): Promise<void> {
  await changeStructure(ctx, assessmentId, 'deleted_section', async (inside, structure) => {
    const { sections, questions } = structure
    const section = sectionIn(structure, sectionId)
    const index = sections.indexOf(section)
    const adjacentSection = sections[index - 1] ?? sections[index + 1]
    const moved = questions.map((question) =>
      question.sectionId === section.id ? { ...question, sectionId: adjacentSection?.id ?? null } : question,
    )
    const joining = moved.filter((_, i) => questions[i]!.sectionId === section.id)
    await refuseInFreeSections(inside, sections, joining, '')
    await numberQuestions(inside, inStructure(moved, sections))
    await inside.db.assessmentSection.deleteMany({ where: rowOf(section) })
  })
}

/** Moves a section with its questions before or behind its neighbor. @throws DomainError as deleteSection. */
export async function moveSection(ctx: Context, { assessmentId, sectionId }: SectionRef, offset: -1 | 1): Promise<void> {
  await changeStructure(ctx, assessmentId, 'moved_section', async (inside, structure) => {
    const { sections, questions } = structure
    const section = sectionIn(structure, sectionId)
    const index = sections.indexOf(section)
    const ordered = sections.toSpliced(index, 1).toSpliced(Math.max(0, index + offset), 0, section)
    for (const [i, orderedSection] of ordered.entries())
      await inside.db.assessmentSection.updateMany({ where: rowOf(orderedSection), data: { order: i + 1 } })
    await numberQuestions(inside, inStructure(questions, ordered))
  })
}

/** @throws DomainError assessment_not_found. */
export function sectionIn({ sections }: Pick<Structure, 'sections'>, id: string): AssessmentSection {
  const section = sections.find((candidate) => candidate.id === id)
  if (!section) throw new DomainError('assessment_not_found')
  return section
}

const rowOf = ({ organizationId, id }: AssessmentSection): Prisma.AssessmentSectionWhereInput => ({ organizationId, id })

/** Changes the structure of an assessment in one transaction, with its audit entry. */
export async function changeStructure<Result>(
  ctx: Context,
  assessmentId: string,
  action: AuditAction,
  work: (inside: Context, structure: Structure, assessment: Assessment) => Promise<Result>,
): Promise<Result> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, assessmentId)
    const result = await work(inside, await readStructure(inside, assessment.id), assessment)
    const target = { kind: 'assessment' as const, id: assessment.id }
    await recordAudit(inside, { action, target, details: { name: assessment.name } })
    return result
  })
}
