import { sql } from '../../db/builder.ts'
import { timestamp } from '../../db/writes.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { MAX_INTEGER } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { lockAssessment } from './edit-assessments.ts'
import { refuseInFreeSections } from './free-navigation.ts'
import { getQuestion, type QuestionRef } from './questions.ts'
import { inSection, inStructure, type PlacedQuestion, placeQuestion, readStructure, type Structure } from './structure.ts'

/**
 * Moves a question to another place, and into the section there. All questions are then numbered from 1.
 *
 * @param place new place among the questions, from 1; beyond the end it becomes the last.
 * @param order number of the question that the caller has read; if somebody moved it meanwhile, it stays. undefined: any.
 * @returns the new place.
 * @throws DomainError not_permitted; assessment_not_found; question_not_found; invalid: `changed` for its order, or an invalid place.
 */
export async function moveQuestion(
  ctx: Context,
  ref: QuestionRef,
  { place, order }: { place: number; order?: number | undefined },
): Promise<number> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const { id: assessmentId, name } = await lockAssessment(inside, ref.assessmentId)
    const question = await getQuestion(inside, ref)
    throwIfIssues(findIssues([['place', checkInteger(place, { minimum: 1, maximum: MAX_INTEGER })]]))
    if (order !== undefined && question.order !== order)
      throwIfIssues([{ field: 'order', rule: 'changed', value: question.order }])
    const structure = await readStructure(inside, assessmentId)
    const moved = structure.questions.find(({ id }) => id === question.id)!
    const ids = await placeQuestions(inside, assessmentId, structure, placeQuestion(structure.questions, moved, place), 'place')
    const target = { kind: 'question' as const, id: question.id }
    await recordAudit(inside, { action: 'moved_question', target, details: { assessmentId, assessment: name } })
    return ids.indexOf(question.id) + 1
  })
}

/**
 * Moves a question to the end of a section. It leaves its pool.
 *
 * @returns the new place. @throws DomainError not_permitted; assessment_not_found; question_not_found; invalid.
 */
export async function moveToSection(ctx: Context, ref: QuestionRef, sectionId: string): Promise<number> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const { id: assessmentId, name } = await lockAssessment(inside, ref.assessmentId)
    const { id } = await getQuestion(inside, ref)
    const structure = await readStructure(inside, assessmentId)
    if (!structure.sections.some((section) => section.id === sectionId))
      throwIfIssues([{ field: '', rule: 'malformed', text: 'Choose a section of this assessment.' }])
    const moved = structure.questions.find((question) => question.id === id)!
    const otherQuestions = structure.questions.filter((question) => question !== moved)
    const ids = await placeQuestions(inside, assessmentId, structure, [...otherQuestions, inSection(moved, sectionId)], '')
    const target = { kind: 'question' as const, id }
    await recordAudit(inside, { action: 'moved_question', target, details: { assessmentId, assessment: name } })
    return ids.indexOf(id) + 1
  })
}

/** Heading of a section in a list of ids. */
export const SECTION = 'section:'

/**
 * Reorders consecutive questions, then numbers all from 1. Repeating a request changes nothing.
 *
 * @param seen ids in the order that the caller has read, with `section:` and its id before the questions of a section.
 * @param wanted ids in the new order, in the same format.
 * @returns true if the order is now as wanted; false if a pool had to stay together.
 * @throws DomainError not_permitted; assessment_not_found; invalid: `changed` if the current order is neither of the two.
 */
export async function orderQuestions(
  ctx: Context,
  assessmentId: string,
  { seen, wanted }: { seen: string[]; wanted: string[] },
): Promise<boolean> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, assessmentId)
    const structure = await readStructure(inside, assessment.id)
    const list = toList(structure)
    const isSameSet = new Set(seen).size === seen.length && isSame([...seen].sort(), [...wanted].sort())
    const from = Math.min(...[...wanted].map((id) => list.indexOf(id)))
    const now = from < 0 ? [] : list.slice(from, from + wanted.length)
    if (isSameSet && wanted.length > 0 && isSame(now, wanted)) return true
    if (!isSameSet || wanted.length === 0 || !isSame(now, seen)) throwIfIssues([{ field: 'order', rule: 'changed', value: null }])
    const wantedList = list.toSpliced(from, wanted.length, ...wanted)
    const questions = fromList(wantedList, structure)
    await placeQuestions(inside, assessment.id, structure, questions, 'order')
    const target = { kind: 'assessment' as const, id: assessment.id }
    await recordAudit(inside, { action: 'ordered_questions', target, details: { name: assessment.name } })
    return isSame(toList({ ...structure, questions: inStructure(questions, structure.sections) }), wantedList)
  })
}

/** Ids of the questions, with the headings of the sections. */
export function toList({ sections, questions }: Pick<Structure, 'sections' | 'questions'>): string[] {
  const idsIn = (sectionId: string | null) => questions.filter((question) => question.sectionId === sectionId).map(({ id }) => id)
  return [...idsIn(null), ...sections.flatMap(({ id }) => [SECTION + id, ...idsIn(id)])]
}

/** Questions before the first heading join the first section. */
function fromList(list: string[], { sections, questions }: Structure): PlacedQuestion[] {
  const byId = new Map(questions.map((question) => [question.id, question]))
  let sectionId = sections[0]?.id ?? null
  return list.flatMap((entry) => {
    if (entry.startsWith(SECTION)) sectionId = entry.slice(SECTION.length)
    const question = byId.get(entry)
    return question ? [inSection(question, sectionId)] : []
  })
}

const isSame = (ids: string[], otherIds: string[]): boolean =>
  ids.length === otherIds.length && ids.every((id, i) => id === otherIds[i])

/**
 * Writes the places of the questions.
 *
 * @param field field of the form that a refusal is shown at. @returns the ids in their order.
 * @throws DomainError invalid if a question can't be in a section with free navigation.
 */
async function placeQuestions(
  ctx: Context,
  assessmentId: string,
  { sections, questions: before }: Structure,
  questions: PlacedQuestion[],
  field: string,
): Promise<string[]> {
  const sectionOf = new Map(before.map(({ id, sectionId }) => [id, sectionId]))
  const changed = questions.filter(({ id, sectionId }) => sectionOf.get(id) !== sectionId)
  await refuseInFreeSections(ctx, sections, changed, field)
  const placed = inStructure(questions, sections)
  await numberQuestions(ctx, placed)
  await deleteEmptyPools(ctx, assessmentId)
  return placed.map(({ id }) => id)
}

/** Numbers the questions from 1, and writes their sections and pools. Sets `updatedAt` only of changed questions. */
export async function numberQuestions(inside: Context, questions: readonly PlacedQuestion[]): Promise<void> {
  const columns = [
    sql`${questions.map(({ id }) => id)}::uuid[]`,
    sql`${questions.map(({ sectionId }) => sectionId)}::uuid[]`,
    sql`${questions.map(({ poolId }) => poolId)}::uuid[]`,
  ]
  type Numbered = { id: string; section: string | null; pool: string | null; place: number }
  const numbered = sql<Numbered>`unnest(${sql.join(columns)}) with ordinality`
  await inside.db
    .updateTable('questions')
    .from(numbered.as<'numbered'>(sql`numbered (id, section, pool, place)`))
    .set((eb) => ({
      order: eb.ref('numbered.place'),
      sectionId: eb.ref('numbered.section'),
      poolId: eb.ref('numbered.pool'),
      updatedAt: sql<Date>`greatest(${timestamp(inside.deps.clock())}, ${eb.ref('questions.updatedAt')} + interval '1 ms')`,
    }))
    .whereRef('questions.id', '=', 'numbered.id')
    .where(({ ref }) => {
      const before = sql.join([ref('questions.order'), ref('questions.sectionId'), ref('questions.poolId')])
      const after = sql.join([ref('numbered.place'), ref('numbered.section'), ref('numbered.pool')])
      return sql<boolean>`(${before}) is distinct from (${after})`
    })
    .execute()
}

/** Deletes pools without questions. */
export async function deleteEmptyPools({ db, organization }: Context, assessmentId: string): Promise<void> {
  await db.assessmentPool.deleteMany({ where: { organizationId: organization.id, assessmentId, questions: { none: {} } } })
}
