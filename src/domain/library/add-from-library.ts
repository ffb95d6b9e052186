import { lockAssessment } from '../assessments/edit-assessments.ts'
import { addQuestion, recordQuestion, toQuestionColumns, toQuestionInput } from '../assessments/edit-questions.ts'
import { findPlaceIssues } from '../assessments/free-navigation.ts'
import { getQuestion, type Question, type QuestionRef } from '../assessments/questions.ts'
import { maximumOf } from '../assessments/rubric.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkSize, findIssues } from '../validation/checks.ts'
import { timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { hashContent, type LibraryContent } from './content.ts'
import { getLibraryQuestion, readLibraryVersion } from './library.ts'
import { lockContent, readContent, refuseSecond } from './save-to-library.ts'

/**
 * Adds the newest version of a library question as the last question of an assessment. Both share the definition, and therefore the key.
 *
 * @returns the question's id.
 * @throws DomainError not_permitted, library_question_not_found, assessment_not_found; invalid if the assessment has the question already,
 *   with its place, or if the library question is retired.
 */
export async function addFromLibrary(ctx: Context, id: string, assessmentId: string): Promise<string> {
  authorize(ctx, 'write_assessments')
  throwIfIssues(findIssues([['assessmentId', assessmentId === '' ? { rule: 'required' } : undefined]]))
  return inTransaction(ctx, async (inside) => {
    await lockAssessment(inside, assessmentId)
    const { number, retiredAt } = await getLibraryQuestion(inside, id)
    if (retiredAt) throw new DomainError('invalid', { issues: [{ field: 'assessmentId', rule: 'account', problem: 'retired' }] })
    await refuseSecond(inside, { assessmentId }, id)
    const { input, versionId } = await readLibraryVersion(inside, id, number)
    const questionId = await addQuestion(inside, assessmentId, input)
    const where = { organizationId: inside.organization.id, assessmentId, id: questionId }
    await inside.db.question.updateMany({ where, data: { versionId, libraryQuestionId: id, libraryNumber: number } })
    return questionId
  })
}

/** Questions that can be added by one request. */
export const MAX_ADDED_AT_ONCE = 100

/**
 * Adds several questions in this order, each in its own transaction, because 100 take seconds. Skips questions that were added already, so
 * that it can be repeated.
 *
 * @throws DomainError as addFromLibrary; invalid at `questions`.
 */
export async function addManyFromLibrary(ctx: Context, ids: string[], assessmentId: string): Promise<void> {
  authorize(ctx, 'write_assessments')
  const size = ids.length === 0 ? ({ rule: 'required' } as const) : checkSize('maxItems', ids.length, MAX_ADDED_AT_ONCE)
  throwIfIssues(findIssues([['questions', size]]))
  const added = await findAdded(ctx, assessmentId, ids.filter(isUuid))
  for (const id of ids) if (!added.has(id)) await addFromLibrary(ctx, id, assessmentId)
}

/** Library questions among `ids` that the assessment already has. */
export async function findAdded(ctx: Context, assessmentId: string, ids: string[]): Promise<Set<string>> {
  authorize(ctx, 'read_assessments')
  const where = { organizationId: ctx.organization.id, assessmentId, libraryQuestionId: { in: ids } }
  const found = await ctx.db.question.findMany({ where, select: { libraryQuestionId: true } })
  return new Set(found.flatMap(({ libraryQuestionId }) => libraryQuestionId ?? []))
}

/** Relation of a question to its library version. @property isChanged true if it differs from that version. @property mine hash of its content. */
export type LibraryOrigin = {
  id: string
  name: string
  number: number
  newest: number
  isChanged: boolean
  isRetired: boolean
  mine: string
}

/** @returns null if the question is not from the library. */
export async function findOrigin(ctx: Context, question: Question): Promise<LibraryOrigin | null> {
  const { libraryQuestionId: id, libraryNumber: number } = question
  if (id === null || number === null) return null
  const { name, number: newest, retiredAt } = await getLibraryQuestion(ctx, id)
  const origin = { id, name, number, newest, isRetired: retiredAt !== null }
  const questionHash = hashContent(await readContent(ctx, question))
  const libraryHash = hashContent(await readLibraryVersion(ctx, id, number))
  return { ...origin, mine: hexOf(questionHash), isChanged: Buffer.compare(questionHash, libraryHash) !== 0 }
}

const hexOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex')

export type LibraryComparison = { origin: LibraryOrigin; mine: LibraryContent; theirs: LibraryContent }

/**
 * A question and the newest version of its library question, with the right answers.
 *
 * @throws DomainError not_permitted, assessment_not_found, question_not_found; library_question_not_found if it is not from the library.
 */
export async function compareToNewest(ctx: Context, ref: QuestionRef): Promise<LibraryComparison> {
  authorize(ctx, 'write_assessments')
  const question = await getQuestion(ctx, ref)
  const origin = await findOrigin(ctx, question)
  if (!origin) throw new DomainError('library_question_not_found')
  return { origin, mine: await readContent(ctx, question), theirs: await readLibraryVersion(ctx, origin.id, origin.newest) }
}

/** State that the form showed. @property mine see Origin. @property number of the newest version. */
type SeenVersions = { mine: string; number: number }

/**
 * Updates a question to the newest version in the library. Points and times stay, except that a rubric makes its own points.
 *
 * @throws DomainError not_permitted, assessment_not_found, question_not_found; library_question_not_found if it is not from the library;
 *   invalid, `changed` at `version`, if either changed since it was seen; invalid if its section or pool doesn't allow the new version.
 */
export async function updateToNewest(ctx: Context, ref: QuestionRef, seenVersions: SeenVersions): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, ref.assessmentId)
    const { question, content } = await lockContent(inside, ref)
    if (question.libraryQuestionId === null) throw new DomainError('library_question_not_found')
    const { number } = await getLibraryQuestion(inside, question.libraryQuestionId)
    const isSeen = hexOf(hashContent(content)) === seenVersions.mine && number === seenVersions.number
    throwIfIssues(isSeen ? [] : [{ field: 'version', rule: 'changed', value: number }])
    const { input, versionId } = await readLibraryVersion(inside, question.libraryQuestionId, number)
    const { points: before, timeLimit, preparationTime } = toQuestionInput(question)
    const points = input.rubric ? maximumOf(input.rubric) : before
    const updated = { ...input, points, timeLimit, preparationTime }
    throwIfIssues(await findPlaceIssues(inside, question, updated))
    const columns = await toQuestionColumns(inside, updated)
    const updatedAt = timeOfChange(inside.deps.clock(), question)
    const where = { organizationId: inside.organization.id, assessmentId: ref.assessmentId, id: question.id }
    await inside.db.question.updateMany({ where, data: { ...columns, versionId, libraryNumber: number, updatedAt } })
    await recordQuestion(inside, 'updated_question', question, assessment)
  })
}
