import { isDeepStrictEqual } from 'node:util'
import { anyOfIds } from '../../db/queries.ts'
import { insertRows } from '../../db/writes.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { findUsedAssets } from '../assets/assets.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import { checkText, findIssues } from '../validation/checks.ts'
import { timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { newestKeys, readNewestKey } from './answer-keys.ts'
import type { Assessment } from './assessments.ts'
import { lockAssessment } from './edit-assessments.ts'
import { recordQuestion } from './edit-questions.ts'
import { lockVersion } from './question-versions.ts'
import { getQuestion, type Question, type QuestionRef } from './questions.ts'

/** Definition of a question with a right answer. Spec and key are JSON in the kind's schemas, see src/kinds. */
export type QuestionDefinition = { responseType: string; spec: unknown; key: unknown }

/** Definition without its key; `isSealed` if a candidate was asked it. */
export type VisibleDefinition = { responseType: string; spec: unknown; keyNumber: number; isSealed: boolean }

/** @returns null: it is answered by a text or a recording. @throws DomainError question_not_found. */
export async function getDefinition(ctx: Context, ref: QuestionRef): Promise<VisibleDefinition | null> {
  const { versionId } = await getQuestion(ctx, ref)
  if (versionId === null) return null
  const organizationId = ctx.organization.id
  const version = await ctx.db.questionVersion.findUniqueOrThrow({
    where: { organizationId_id: { organizationId, id: versionId } },
  })
  const { number } = await readNewestKey(ctx, versionId)
  return {
    responseType: version.responseType,
    spec: version.spec,
    keyNumber: number,
    isSealed: version.lockedAt !== null,
  }
}

/**
 * Gives a question a definition: a kind with a right answer. Candidates who have started keep the earlier one. An unchanged definition
 * changes nothing.
 *
 * @throws DomainError not_permitted; assessment_not_found; question_not_found; invalid.
 */
export const defineQuestion = (ctx: Context, ref: QuestionRef, definition: QuestionDefinition): Promise<void> =>
  define(ctx, ref, definition, (inside, question, assessment) => recordQuestion(inside, 'updated_question', question, assessment))

/** The same as part of writing the question, which the audit log has already. @throws DomainError as defineQuestion. */
export const defineUnaudited = (ctx: Context, ref: QuestionRef, definition: QuestionDefinition): Promise<void> =>
  define(ctx, ref, definition, async () => {})

async function define(
  ctx: Context,
  ref: QuestionRef,
  definition: QuestionDefinition,
  record: (inside: Context, question: Question, assessment: Assessment) => Promise<void>,
): Promise<void> {
  authorize(ctx, 'write_assessments')
  throwIfIssues(findDefinitionIssues(ctx, definition))
  await inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, ref.assessmentId)
    const question = await getQuestion(inside, ref)
    const { versionId, isChanged } = await writeVersion(inside, question.versionId, definition)
    if (!isChanged) return
    const updatedAt = timeOfChange(inside.deps.clock(), question)
    const where = { organizationId: inside.organization.id, assessmentId: assessment.id, id: question.id }
    await inside.db.question.updateMany({ where, data: { versionId, responseType: definition.responseType, updatedAt } })
    await record(inside, question, assessment)
  })
}

/**
 * Finds or writes the version with the definition: the current version if it is equal, the changed current version if nobody was asked it,
 * or a new one.
 *
 * @param before id of the question's current version; null: none.
 */
export async function writeVersion(
  ctx: Context,
  before: string | null,
  definition: QuestionDefinition,
): Promise<{ versionId: string; isChanged: boolean }> {
  if (before !== null && (await hasDefinition(ctx, before, definition))) return { versionId: before, isChanged: false }
  const versionId = (await changeVersion(ctx, before, definition)) ?? (await createVersion(ctx, definition, before))
  return { versionId, isChanged: true }
}

async function hasDefinition(ctx: Context, versionId: string, wanted: QuestionDefinition): Promise<boolean> {
  const where = { organizationId_id: { organizationId: ctx.organization.id, id: versionId } }
  const { responseType, spec } = await ctx.db.questionVersion.findUniqueOrThrow({ where })
  const { key } = await readNewestKey(ctx, versionId)
  return isDeepStrictEqual({ responseType, spec, key }, { ...wanted })
}

/** True if a text or name in it can't be stored. */
const hasBrokenText = (value: unknown): boolean =>
  typeof value === 'string'
    ? checkText(value, Number.POSITIVE_INFINITY) !== undefined
    : typeof value === 'object' && value !== null && Object.entries(value).flat().some(hasBrokenText)

/** Version with its newest key, for authors and for trying out answers. */
export async function readDefinitionWithKey({ db, organization }: Context, versionId: string): Promise<QuestionDefinition> {
  const where = { organizationId: organization.id, versionId }
  const newest = await db.answerKey.findFirstOrThrow({ where, orderBy: { number: 'desc' }, include: { version: true } })
  const { responseType, spec } = newest.version
  return { responseType, spec, key: newest.key }
}

/** The same of several, by their ids. */
export async function readDefinitionsWithKeys(
  ctx: Context,
  versionIds: readonly string[],
): Promise<Map<string, QuestionDefinition>> {
  const newest = newestKeys(ctx.db)
    .where('answerKeys.versionId', '=', anyOfIds(versionIds))
    .innerJoin(ctx.db.table('questionVersions'), 'questionVersions.id', 'answerKeys.versionId')
    .select(['questionVersions.responseType', 'questionVersions.spec'])
  const found = await newest.execute()
  return new Map(found.map(({ versionId, responseType, spec, key }) => [versionId, { responseType, spec, key }]))
}

/** True if the version's key was corrected. Locks it until the end of the transaction. */
export async function isCorrected(ctx: Context, versionId: string): Promise<boolean> {
  await lockVersion(ctx, versionId)
  return (await readNewestKey(ctx, versionId)).number > 1
}

/** An external player can't show the choices of a definition. */
export function findDefinitionIssues({ deps }: Pick<Context, 'deps'>, { responseType, spec, key }: QuestionDefinition): Issue[] {
  const kind = deps.kinds.get(responseType)
  if (!kind) {
    return findIssues([['responseType', { rule: 'choice', limit: [...deps.kinds.keys()], value: responseType }]])
  }
  const elsewhere = 'Candidates take assessments in another player, which does not know questions of this kind.'
  const faults = deps.hasOwnPlayer ? kind.faults(responseType, spec, key) : [{ field: 'responseType', text: elsewhere }]
  if (faults.length === 0 && hasBrokenText([spec, key])) return [{ field: 'spec', rule: 'text' }]
  return faults.map(({ field, text }) => ({ field, rule: 'malformed', text: `${field}: ${text}` }))
}

/** @returns the id of the changed version; null if the question has no version that may be changed. */
async function changeVersion(ctx: Context, versionId: string | null, { responseType, spec, key }: QuestionDefinition) {
  if (versionId === null) return null
  const { db, organization } = ctx
  const assetIds = await findUsedAssets(ctx, [JSON.stringify(spec)])
  const organizationId = organization.id
  // A concurrent seal either committed before this, or waits for it.
  const { count } = await db.questionVersion.updateMany({
    where: { organizationId, id: versionId, lockedAt: null },
    data: { responseType, spec: spec as Prisma.InputJsonValue, assetIds },
  })
  if (count === 0) return null
  await db.answerKey.updateMany({ where: { organizationId, versionId }, data: { key: key as Prisma.InputJsonValue } })
  return versionId
}

/** @param replacesId version that the new one replaces. @returns the new version's id. */
export async function createVersion(
  ctx: Context,
  { responseType, spec, key }: QuestionDefinition,
  replacesId: string | null = null,
): Promise<string> {
  const { db, deps, organization } = ctx
  const organizationId = organization.id
  const [id, createdAt] = [deps.newId(), deps.clock()]
  const assetIds = await findUsedAssets(ctx, [JSON.stringify(spec)])
  const version = { organizationId, id, responseType, spec, assetIds, replacesId, createdAt }
  const answerKey = { organizationId, versionId: id, number: 1, key, createdAt }
  await insertRows(db, { questionVersions: [version], answerKeys: [answerKey] }).execute()
  return id
}
