import { violatedConstraint } from '../../db/errors.ts'
import { prepareScoped } from '../../db/queries.ts'
import { insertRows } from '../../db/writes.ts'
import { createVersion, readDefinitionWithKey } from '../assessments/define-question.ts'
import { lockAssessment } from '../assessments/edit-assessments.ts'
import { toQuestionInput } from '../assessments/edit-questions.ts'
import { lockVersion, sealVersions } from '../assessments/question-versions.ts'
import { getQuestion, type Question, type QuestionRef } from '../assessments/questions.ts'
import { findUsedAssets } from '../assets/assets.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { searchWords } from '../text/fold-text.ts'
import { inTransaction } from '../transaction.ts'
import { timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { resolveCategory } from './categories.ts'
import { hashContent, type LibraryContent, nameFromContent } from './content.ts'
import { getLibraryQuestion, recordLibraryAction } from './library.ts'

export type LibraryPlace = { libraryQuestionId: string; number: number }

/** Content of an assessment's question. */
export async function readContent(ctx: Context, question: Question): Promise<LibraryContent> {
  const definition = question.versionId === null ? null : await readDefinitionWithKey(ctx, question.versionId)
  return { input: toQuestionInput(question), definition }
}

/** Reads and locks a question's content, so that its key can't be corrected meanwhile. */
export async function lockContent(ctx: Context, ref: QuestionRef): Promise<{ question: Question; content: LibraryContent }> {
  await lockAssessment(ctx, ref.assessmentId)
  const question = await getQuestion(ctx, ref)
  if (question.versionId !== null) await lockVersion(ctx, question.versionId)
  return { question, content: await readContent(ctx, question) }
}

/**
 * Saves a question to the library, or finds the equal one there, and links the question to it.
 *
 * @returns the library question and version, and whether it is new.
 * @throws DomainError not_permitted, assessment_not_found, question_not_found; invalid if another question of the assessment is linked to
 *   the same library question.
 */
export async function saveToLibrary(ctx: Context, ref: QuestionRef): Promise<LibraryPlace & { isNew: boolean }> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const { question, content } = await lockContent(inside, ref)
    const place = await findOrCreate(inside, content, { versionId: question.versionId })
    await refuseSecond(inside, ref, place.libraryQuestionId)
    await linkTo(inside, question, place)
    if (place.isNew) await recordLibraryAction(inside, 'saved_to_library', place.libraryQuestionId)
    return place
  })
}

/**
 * Saves a changed question as the next version of its library question. If an earlier version is identical, that one is used.
 *
 * @returns its place. @throws DomainError as saveToLibrary; library_question_not_found if it is not from the library.
 */
export async function saveAsVersion(ctx: Context, ref: QuestionRef): Promise<LibraryPlace> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const { question, content } = await lockContent(inside, ref)
    const origin = question.libraryQuestionId
    if (origin === null) throw new DomainError('library_question_not_found')
    await lock(inside, origin)
    const found = await findEqual(inside, content)
    const { isNew, ...place } = found
      ? { ...found, isNew: false }
      : await createUnlessEqual(inside, content, (nested) => createNextVersion(nested, origin, content, question.versionId))
    if (place.libraryQuestionId !== origin) await refuseSecond(inside, ref, place.libraryQuestionId)
    await linkTo(inside, question, place)
    if (isNew) await recordLibraryAction(inside, 'saved_library_version', origin)
    return place
  })
}

/** A question of the library gets a version after its newest. */
async function createNextVersion(
  ctx: Context,
  id: string,
  content: LibraryContent,
  versionId: string | null,
): Promise<LibraryPlace> {
  const { number } = await getLibraryQuestion(ctx, id)
  const place = { libraryQuestionId: id, number: number + 1 }
  await writeVersion(ctx, place, content, versionId)
  await ctx.db.libraryQuestion.updateMany({
    where: { organizationId: ctx.organization.id, id },
    data: { responseType: content.input.responseType, number: place.number, updatedAt: ctx.deps.clock() },
  })
  return place
}

export type LibraryFacts = { versionId?: string | null; name?: string; category?: string; importId?: string }

/**
 * Finds or creates the library question with this content. Two simultaneous calls get the same one.
 *
 * @param facts.versionId id of a version with the same definition; otherwise one is created.
 */
export async function findOrCreate(
  ctx: Context,
  content: LibraryContent,
  facts: LibraryFacts,
): Promise<LibraryPlace & { isNew: boolean }> {
  const equal = await findEqual(ctx, content)
  return equal
    ? { ...equal, isNew: false }
    : createUnlessEqual(ctx, content, (inside) => createLibraryQuestion(inside, content, facts))
}

/** The second of two concurrent saves of the same content gets the first one's row. */
async function createUnlessEqual(
  ctx: Context,
  content: LibraryContent,
  create: (inside: Context) => Promise<LibraryPlace>,
): Promise<LibraryPlace & { isNew: boolean }> {
  try {
    return { ...(await inTransaction(ctx, create)), isNew: true }
  } catch (error) {
    if (violatedConstraint(error) !== CONTENT_KEY) throw error
    return { ...(await findEqual(ctx, content))!, isNew: false }
  }
}

/** Unique constraint on content. */
export const CONTENT_KEY = 'library_versions_content_key'

const versionWithHash = prepareScoped((db, params: { contentHash: Buffer }) =>
  db
    .selectFrom('libraryVersions')
    .where('contentHash', '=', params.contentHash as Uint8Array<ArrayBuffer>)
    .select(['libraryQuestionId', 'number']),
)

export async function findEqual({ db }: Context, content: LibraryContent): Promise<LibraryPlace | null> {
  const contentHash = Buffer.from(hashContent(content))
  return (await versionWithHash(db, { contentHash }).executeTakeFirst()) ?? null
}

async function createLibraryQuestion(ctx: Context, content: LibraryContent, facts: LibraryFacts): Promise<LibraryPlace> {
  const categoryId = await resolveCategory(ctx, facts.category ?? '')
  const head = { ...toFirstColumns(ctx, content), categoryId, importId: facts.importId ?? null }
  const name = facts.name || head.name
  await insertRows(ctx.db, { libraryQuestions: [{ ...head, name, nameWords: searchWords(name) }] }).execute()
  const versionId = facts.versionId ?? (content.definition && (await createVersion(ctx, content.definition)))
  const place = { libraryQuestionId: head.id, number: 1 }
  await writeVersion(ctx, place, content, versionId)
  return place
}

function toFirstColumns({ actor, deps, organization }: Context, { input }: LibraryContent) {
  const now = deps.clock()
  return {
    id: deps.newId(),
    organizationId: organization.id,
    name: nameFromContent(input),
    responseType: input.responseType,
    number: 1,
    createdById: actor.kind === 'member' ? actor.id : null,
    createdAt: now,
    updatedAt: now,
  }
}

async function writeVersion(ctx: Context, place: LibraryPlace, content: LibraryContent, versionId: string | null): Promise<void> {
  const { actor, db, deps, organization } = ctx
  const { script, audioUrl, videoUrl } = content.input
  const assetIds = await findUsedAssets(ctx, [script, JSON.stringify(content.definition?.spec ?? null)], [audioUrl, videoUrl])
  const version = {
    organizationId: organization.id,
    ...place,
    content: content.input,
    versionId,
    assetIds,
    contentHash: hashContent(content),
    createdById: actor.kind === 'member' ? actor.id : null,
    createdAt: deps.clock(),
  }
  await insertRows(db, { libraryVersions: [version] }).execute()
  const versions = ctx.db
    .selectFrom('libraryVersions')
    .where('libraryVersions.libraryQuestionId', '=', place.libraryQuestionId)
    .where('libraryVersions.versionId', 'is not', null)
  await sealVersions(ctx, versions.select('libraryVersions.versionId'))
}

/** Serializes saves, so that each version gets its own number. */
async function lock(ctx: Context, id: string): Promise<void> {
  await ctx.db.selectFrom('libraryQuestions').where('id', '=', id).select('id').forNoKeyUpdate().executeTakeFirst()
}

/** An assessment may have each library question once. @throws DomainError invalid, with the place of the existing one. */
export async function refuseSecond(
  { db, organization }: Context,
  { assessmentId, questionId }: { assessmentId: string; questionId?: string },
  libraryQuestionId: string,
): Promise<void> {
  const key = { organizationId: organization.id, assessmentId }
  const duplicate = await db.question.findFirst({
    where: { ...key, libraryQuestionId, ...(questionId && { id: { not: questionId } }) },
    select: { order: true, id: true },
  })
  if (!duplicate) return
  const before = await db.question.count({
    where: { ...key, OR: [{ order: { lt: duplicate.order } }, { order: duplicate.order, id: { lt: duplicate.id } }] },
  })
  throw new DomainError('invalid', {
    issues: [{ field: 'assessmentId', rule: 'account', problem: 'inAssessment', limit: before + 1 }],
  })
}

/** Stores which library version a question is from. */
async function linkTo(ctx: Context, question: Question, { libraryQuestionId, number }: LibraryPlace): Promise<void> {
  if (question.libraryQuestionId === libraryQuestionId && question.libraryNumber === number) return
  const { assessmentId, id } = question
  const where = { organizationId: ctx.organization.id, assessmentId, id }
  const updatedAt = timeOfChange(ctx.deps.clock(), question)
  await ctx.db.question.updateMany({ where, data: { libraryQuestionId, libraryNumber: number, updatedAt } })
}
