import { authorize } from '../access/permissions.ts'
import { refuse } from '../checking/refuse.ts'
import type { Seen } from '../checking/refuse-unseen-changes.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import { type Definition, defineWritten } from './define-question.ts'
import { addQuestion, type QuestionInput, updateQuestion } from './edit-questions.ts'
import { getQuestion, type QuestionRef } from './questions.ts'

/** @property faults what is wrong with the definition already, as whoever read it has found. */
type Written = { input: QuestionInput; definition: Definition; faults: Issue[] }

/** Adds a question of a kind, with what makes it one. @returns its id. @throws DomainError as addQuestion, and defineQuestion. */
export const addDefinedQuestion = (ctx: Context, assessmentId: string, written: Written): Promise<string> =>
  write(ctx, assessmentId, written, (inside) => addQuestion(inside, assessmentId, written.input))

/** Makes a question of a kind what is given. @throws DomainError as updateQuestion, and defineQuestion. */
export const updateDefinedQuestion = async (ctx: Context, ref: QuestionRef, written: Written, seen: Seen): Promise<void> => {
  await write(ctx, ref.assessmentId, written, async (inside) => {
    await updateQuestion(inside, ref, written.input, seen)
    return ref.questionId
  })
}

/** Both or neither, with all that is wrong with both. */
function write(
  ctx: Context,
  assessmentId: string,
  { definition, faults }: Written,
  save: (inside: Context) => Promise<string>,
): Promise<string> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const questionId = await save(inside).catch((error: unknown) => {
      if (!(error instanceof DomainError && error.kind === 'invalid')) throw error
      throw new DomainError('invalid', { issues: [...error.issues, ...faults] })
    })
    refuse(faults)
    await defineWritten(inside, { assessmentId, questionId }, definition)
    return questionId
  })
}

/** What makes a question one of a kind, with what is right: for whoever may write it. @returns null: it is of none. @throws DomainError not_permitted; question_not_found. */
export async function readDefinitionToWrite(ctx: Context, ref: QuestionRef): Promise<Definition | null> {
  authorize(ctx, 'write_assessments')
  const { versionId } = await getQuestion(ctx, ref)
  if (versionId === null) return null
  const newest = await ctx.db.questionKey.findFirstOrThrow({
    where: { organizationId: ctx.organization.id, versionId },
    orderBy: { number: 'desc' },
    include: { version: { select: { responseType: true, spec: true } } },
  })
  return { ...newest.version, key: newest.key }
}
