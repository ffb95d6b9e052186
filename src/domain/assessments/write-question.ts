import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import type { SeenAt } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { defineUnaudited, type QuestionDefinition, readDefinitionWithKey } from './define-question.ts'
import { lockAssessment } from './edit-assessments.ts'
import { addQuestion, updateQuestion } from './edit-questions.ts'
import type { QuestionInput } from './question-input.ts'
import { lockVersion } from './question-versions.ts'
import { getQuestion, type QuestionRef } from './questions.ts'

/** @property faults issues of the definition that its reader has found. */
type QuestionToWrite = { input: QuestionInput; definition: QuestionDefinition; faults: Issue[] }

/** Adds a question of a kind, with what makes it one. @returns its id. @throws DomainError as addQuestion, and defineQuestion. */
export const addDefinedQuestion = (ctx: Context, assessmentId: string, toWrite: QuestionToWrite): Promise<string> =>
  write(ctx, assessmentId, toWrite, (inside) => addQuestion(inside, assessmentId, toWrite.input))

/** @property definition hash of the definition that the caller has read, see hashDefinition. */
type SeenQuestion = { question: SeenAt; definition: string }

/**
 * Changes a question and its definition.
 *
 * @throws DomainError as updateQuestion and defineQuestion; invalid with `changed` at `definition` if the definition or its key was changed
 *   since it was read.
 */
export const updateDefinedQuestion = (
  ctx: Context,
  ref: QuestionRef,
  toWrite: QuestionToWrite,
  lastSeen: SeenQuestion,
): Promise<void> =>
  inTransaction(ctx, async (inside) => {
    authorize(inside, 'write_assessments')
    await lockAssessment(inside, ref.assessmentId)
    const faults = [...toWrite.faults, ...(await findUnseen(inside, ref, toWrite.definition, lastSeen.definition))]
    await write(inside, ref.assessmentId, { ...toWrite, faults }, async (nested) => {
      await updateQuestion(nested, ref, toWrite.input, lastSeen.question)
      return ref.questionId
    })
  })

/** Correcting a key doesn't change the question's row, so the definition itself is compared with the one that was read. */
async function findUnseen(ctx: Context, ref: QuestionRef, wanted: QuestionDefinition, seenHash: string): Promise<Issue[]> {
  const { versionId } = await getQuestion(ctx, ref)
  if (versionId === null) return []
  await lockVersion(ctx, versionId)
  const stored = await readDefinitionWithKey(ctx, versionId)
  if (hashDefinition(stored) === seenHash || isDeepStrictEqual(stored, wanted)) return []
  return [{ field: 'definition', rule: 'changed', value: null }]
}

/** Hash to detect changes of a stored definition. */
export const hashDefinition = ({ responseType, spec, key }: QuestionDefinition): string =>
  createHash('sha256')
    .update(JSON.stringify([responseType, spec, key]))
    .digest('base64url')

/** Both or neither, with all that is wrong with both. */
function write(
  ctx: Context,
  assessmentId: string,
  { definition, faults }: QuestionToWrite,
  save: (inside: Context) => Promise<string>,
): Promise<string> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const questionId = await save(inside).catch((error: unknown) => {
      if (!(error instanceof DomainError && error.kind === 'invalid')) throw error
      throw new DomainError('invalid', { issues: [...error.issues, ...faults] })
    })
    throwIfIssues(faults)
    await defineUnaudited(inside, { assessmentId, questionId }, definition)
    return questionId
  })
}

/**
 * Definition with its key, for actors who may write it.
 *
 * @returns null without a definition.
 * @throws DomainError not_permitted; question_not_found.
 */
export async function readDefinitionToWrite(ctx: Context, ref: QuestionRef): Promise<QuestionDefinition | null> {
  authorize(ctx, 'write_assessments')
  const { versionId } = await getQuestion(ctx, ref)
  return versionId === null ? null : readDefinitionWithKey(ctx, versionId)
}
