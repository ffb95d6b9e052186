import type { Prisma } from '../../generated/prisma/client.ts'
import { type QuestionDefinition, readDefinitionWithKey } from '../assessments/define-question.ts'
import type { QuestionInput } from '../assessments/question-input.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkName, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { resolveCategory } from './categories.ts'

const include = {
  category: { select: { path: true } },
  versions: { select: { number: true, createdAt: true }, orderBy: { number: 'desc' }, take: 100 },
} satisfies Prisma.LibraryQuestionInclude

/** A question of the library, with its category and its versions, the newest first. */
export type LibraryQuestion = Prisma.LibraryQuestionGetPayload<{ include: typeof include }>

/** @throws DomainError not_permitted, library_question_not_found. */
export async function getLibraryQuestion(ctx: Context, id: string): Promise<LibraryQuestion> {
  authorize(ctx, 'read_library')
  const where = { organizationId: ctx.organization.id, id }
  const question = isUuid(id) ? await ctx.db.libraryQuestion.findFirst({ where, include }) : null
  if (!question) throw new DomainError('library_question_not_found')
  return question
}

export type LibraryVersion = {
  number: number
  input: QuestionInput
  versionId: string | null
  definition: QuestionDefinition | null
}

/** Version with spec and key, for authors and for trying out answers. */
export async function readLibraryVersion(ctx: Context, libraryQuestionId: string, number: number): Promise<LibraryVersion> {
  const organizationId = ctx.organization.id
  const version = await ctx.db.libraryVersion.findUniqueOrThrow({
    where: { organizationId_libraryQuestionId_number: { organizationId, libraryQuestionId, number } },
  })
  const { versionId, content } = version
  return {
    number,
    input: content as unknown as QuestionInput,
    versionId,
    definition: versionId ? await readDefinitionWithKey(ctx, versionId) : null,
  }
}

export type LibraryUse = { assessmentId: string; name: string; questionId: string; number: number | null }
const MAX_USES_LISTED = 100

/** The assessments that ask it, each with its question and the version that it took; the first 100. */
export function listUses(ctx: Context, libraryQuestionId: string): Promise<LibraryUse[]> {
  authorize(ctx, 'read_library')
  const uses = ctx.db
    .selectFrom('questions')
    .where('questions.libraryQuestionId', '=', libraryQuestionId)
    .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'questions.assessmentId')
    .select(['questions.assessmentId', 'assessments.name', 'questions.id as questionId', 'questions.libraryNumber as number'])
    .orderBy('assessments.name')
    .orderBy('questions.id')
    .limit(MAX_USES_LISTED)
  return uses.execute()
}

/** Names it, and puts it into a category. @throws DomainError not_permitted, library_question_not_found, invalid. */
export async function changeLibraryQuestion(
  ctx: Context,
  id: string,
  { name, category }: { name: string; category: string },
): Promise<void> {
  authorize(ctx, 'write_assessments')
  throwIfIssues(findIssues([['name', checkName(name, MAX_NAME_LENGTH)]]))
  await inTransaction(ctx, async (inside) => {
    const question = await getLibraryQuestion(inside, id)
    const categoryId = await resolveCategory(inside, category)
    if (question.name === name && question.categoryId === categoryId) return
    await change(inside, id, { name, categoryId })
    await recordLibraryAction(inside, 'changed_library_question', id)
  })
}

/** No longer offered, and used as before; or offered again. @throws DomainError not_permitted, library_question_not_found. */
export async function retireLibraryQuestion(ctx: Context, id: string, isRetired: boolean): Promise<void> {
  authorize(ctx, 'write_assessments')
  await inTransaction(ctx, async (inside) => {
    const { retiredAt } = await getLibraryQuestion(inside, id)
    if ((retiredAt !== null) === isRetired) return
    await change(inside, id, { retiredAt: isRetired ? inside.deps.clock() : null })
    await recordLibraryAction(inside, isRetired ? 'retired_library_question' : 'restored_library_question', id)
  })
}

async function change(
  { db, deps, organization }: Context,
  id: string,
  data: Prisma.LibraryQuestionUncheckedUpdateManyInput,
): Promise<void> {
  const where = { organizationId: organization.id, id }
  await db.libraryQuestion.updateMany({ where, data: { ...data, updatedAt: deps.clock() } })
}

type LibraryAction =
  | 'saved_to_library'
  | 'saved_library_version'
  | 'changed_library_question'
  | 'retired_library_question'
  | 'restored_library_question'

export const recordLibraryAction = (ctx: Context, action: LibraryAction, id: string): Promise<void> =>
  recordAudit(ctx, { action, target: { kind: 'library_question', id } })
