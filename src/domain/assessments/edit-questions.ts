import { Prisma } from '../../generated/prisma/client.ts'
import { findUsedAssets } from '../assets/assets.ts'
import { assetAddress, assetIdIn } from '../assets/references.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { type AuditAction, recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { MAX_INTEGER } from '../limits.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, findIssues, issuesOfChangedFields } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { addLanguages } from './assessment-references.ts'
import type { Assessment } from './assessments.ts'
import { findQuestionIssues, promptFieldOf } from './check-question.ts'
import { lockAssessment } from './edit-assessments.ts'
import { findPlaceIssues } from './free-navigation.ts'
import { deleteEmptyPools, numberQuestions } from './order-questions.ts'
import type { QuestionInput } from './question-input.ts'
import { sealVersions } from './question-versions.ts'
import { getQuestion, type Question, type QuestionRef } from './questions.ts'
import type { Rubric } from './rubric.ts'
import { readStructure } from './structure.ts'

/** Stored question as form input. */
export const toQuestionInput = (question: Question): QuestionInput => ({
  inputType: question.inputType,
  responseType: question.responseType,
  script: question.script,
  scriptFormat: question.scriptFormat,
  audioUrl: question.audioUrl,
  videoUrl: question.videoUrl,
  points: question.points,
  timeLimit: question.timeLimit,
  preparationTime: question.preparationTime,
  simultaneous: question.simultaneous,
  sourceLanguage: question.sourceLanguage ?? '',
  targetLanguage: question.targetLanguage ?? '',
  rubric: question.rubric as Rubric | null,
})

/**
 * Adds a question behind the last, in the last section.
 *
 * @returns its id. @throws DomainError not_permitted; assessment_not_found; invalid.
 */
export async function addQuestion(ctx: Context, assessmentId: string, input: QuestionInput): Promise<string> {
  authorize(ctx, 'write_assessments')
  throwIfIssues(findQuestionIssues(input))
  return inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const assessment = await lockAssessment(inside, assessmentId)
    throwIfIssues(checkTotal(assessment, 0, input))
    const sectionId = await findLastSection(inside, assessment.id)
    throwIfIssues(await findPlaceIssues(inside, { sectionId, poolId: null }, input))
    const key = { organizationId: inside.organization.id, assessmentId: assessment.id }
    const last = await db.question.aggregate({ where: key, _max: { order: true } })
    const order = Math.min((last._max.order ?? 0) + 1, MAX_INTEGER)
    const now = deps.clock()
    const columns = await toQuestionColumns(inside, input)
    const question = { id: deps.newId(), ...key, ...columns, sectionId, order, createdAt: now, updatedAt: now }
    await db.question.create({ data: question })
    await recordQuestion(inside, 'added_question', question, assessment)
    return question.id
  })
}

async function findLastSection({ db, organization }: Context, assessmentId: string): Promise<string | null> {
  const where = { organizationId: organization.id, assessmentId }
  const last = await db.assessmentSection.findFirst({ where, select: { id: true }, orderBy: [{ order: 'desc' }, { id: 'desc' }] })
  return last?.id ?? null
}

/**
 * Replaces a question's content; its position stays.
 *
 * @throws DomainError not_permitted; assessment_not_found; question_not_found; invalid, also `changed` for fields that somebody else
 *   changed since `seenAt`.
 */
export async function updateQuestion(ctx: Context, ref: QuestionRef, input: QuestionInput, seenAt: SeenAt): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, ref.assessmentId)
    const question = await getQuestion(inside, ref)
    const current = toQuestionInput(question)
    // The input type decides which other fields are required, and other fields whether it can be simultaneous.
    const { inputType } = current
    const dependent = ['simultaneous', ...(input.inputType === inputType ? [] : [promptFieldOf(input.inputType)])]
    const before = { ...current, ...Object.fromEntries(dependent.map((field) => [field, undefined])) }
    const issues = [...findQuestionIssues(input), ...(await findPlaceIssues(inside, question, input))]
    throwIfIssues(issuesOfChangedFields(issues, before, input))
    const version = { updatedAt: question.updatedAt, seen: seenAt, action: 'updated_question', targetId: question.id } as const
    await refuseUnseenChanges(versionOf(inside, version), current, input)
    throwIfIssues(checkTotal(assessment, question.points, input))
    const updatedAt = timeOfChange(inside.deps.clock(), question)
    const columns = await toQuestionColumns(inside, input)
    // Changing the kind removes the definition, see define-question.ts.
    const defined = input.responseType === question.responseType ? {} : { versionId: null }
    await inside.db.question.updateMany({ where: ownRow(question), data: { ...columns, ...defined, updatedAt } })
    await recordQuestion(inside, 'updated_question', question, assessment)
  })
}

/**
 * Changes the given fields of a question.
 *
 * @param seenAt time of the last change that the caller has read; undefined: overwrite any change. @throws DomainError as updateQuestion.
 */
export async function changeQuestion(
  ctx: Context,
  ref: QuestionRef,
  change: Partial<QuestionInput>,
  seenAt?: SeenAt,
): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    await lockAssessment(inside, ref.assessmentId)
    const question = await getQuestion(inside, ref)
    await updateQuestion(inside, ref, { ...toQuestionInput(question), ...change }, seenAt ?? question.updatedAt)
  })
}

/** Deletes a question, for good. @throws DomainError not_permitted; assessment_not_found; question_not_found. */
export async function deleteQuestion(ctx: Context, ref: QuestionRef): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, ref.assessmentId)
    const question = await getQuestion(inside, ref)
    await inside.db.question.deleteMany({ where: ownRow(question) })
    await deleteEmptyPools(inside, assessment.id)
    await recordQuestion(inside, 'deleted_question', question, assessment)
  })
}

/**
 * Makes another question like this one, right behind it; the questions are then numbered from 1.
 *
 * @returns its id.
 * @throws DomainError not_permitted; assessment_not_found; question_not_found; invalid for points that are too many in all.
 */
export async function duplicateQuestion(ctx: Context, ref: QuestionRef): Promise<string> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const assessment = await lockAssessment(inside, ref.assessmentId)
    const original = await getQuestion(inside, ref)
    throwIfIssues(checkTotal(assessment, 0, original))
    const now = deps.clock()
    // A library question appears once in an assessment, so the copy is not linked to it.
    const unlinked = { libraryQuestionId: null, libraryNumber: null }
    const copy = { ...original, ...unlinked, id: deps.newId(), createdAt: now, updatedAt: now }
    await db.question.create({ data: { ...copy, rubric: toJson(copy.rubric) } })
    await sealVersions(
      inside,
      inside.db.selectFrom('questions').where('questions.id', '=', copy.id).select('questions.versionId'),
    )
    const { questions } = await readStructure(inside, assessment.id)
    const otherQuestions = questions.filter(({ id }) => id !== copy.id)
    const index = otherQuestions.findIndex(({ id }) => id === original.id) + 1
    await numberQuestions(inside, otherQuestions.toSpliced(index, 0, { ...otherQuestions[index - 1]!, id: copy.id }))
    await recordQuestion(inside, 'duplicated_question', copy, assessment)
    return copy.id
  })
}

const ownRow = ({ organizationId, assessmentId, id }: Question) => ({ organizationId, assessmentId, id })

/** The database keeps the sum of an assessment's points in an integer. @param before the question's points so far. */
const checkTotal = ({ totalPoints }: Assessment, before: number, { points }: Pick<QuestionInput, 'points'>): Issue[] =>
  findIssues([['points', checkInteger(points, { minimum: 0, maximum: MAX_INTEGER - (totalPoints - before) })]])

/**
 * Columns of the input, with languages added to the organization if necessary. @throws DomainError invalid for a link to a missing asset.
 */
export async function toQuestionColumns(ctx: Context, input: QuestionInput) {
  const codeOrNull = (code: string) => (code.trim() === '' ? null : code)
  const sourceLanguage = codeOrNull(input.sourceLanguage)
  const targetLanguage = codeOrNull(input.targetLanguage)
  await addLanguages(
    ctx,
    [sourceLanguage, targetLanguage].filter((code) => code !== null),
  )
  const { script, audioUrl, videoUrl } = input
  const assetIds = await findUsedAssets(ctx, [script], [audioUrl, videoUrl])
  throwIfIssues([...findMissing('audioUrl', audioUrl, assetIds), ...findMissing('videoUrl', videoUrl, assetIds)])
  const addresses = { audioUrl: withoutHost(audioUrl), videoUrl: withoutHost(videoUrl) }
  return { ...input, ...addresses, sourceLanguage, targetLanguage, assetIds, rubric: toJson(input.rubric) }
}

const toJson = (rubric: Question['rubric']) => rubric ?? Prisma.DbNull

/** An address of ours without the host, which may change. */
function withoutHost(address: string): string {
  const id = assetIdIn(address)
  return id === null ? address : assetAddress(id)
}

function findMissing(field: string, address: string, found: string[]): Issue[] {
  const id = assetIdIn(address)
  return id === null || found.includes(id) ? [] : [{ field, rule: 'reference', value: address }]
}

export const recordQuestion = (
  ctx: Context,
  action: AuditAction,
  { id }: { id: string },
  { id: assessmentId, name }: Assessment,
): Promise<void> => recordAudit(ctx, { action, target: { kind: 'question', id }, details: { assessmentId, assessment: name } })
