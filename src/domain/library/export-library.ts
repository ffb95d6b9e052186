import { anyOfIds } from '../../db/queries.ts'
import { readDefinitionsWithKeys } from '../assessments/define-question.ts'
import type { QuestionInput } from '../assessments/question-input.ts'
import { EXPORTED_AT_ONCE, exportRows, runExport, type WriteBatch } from '../audit/run-export.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { LibraryContent } from './content.ts'
import { MAX_IMPORTED } from './imports.ts'
import { type LibraryFilter, listLibrary } from './list-library.ts'

/** Most questions in one file, the newest: as many as an import may have. */
export const MAX_EXPORTED = MAX_IMPORTED

export type ExportedLibraryQuestion = { id: string; name: string; category: string; content: LibraryContent }

/**
 * Exports the matching questions with their right answers, for authors.
 *
 * @throws DomainError not_permitted, too_many_exports.
 */
export async function exportLibrary(
  ctx: Context,
  filter: LibraryFilter,
  write: WriteBatch<ExportedLibraryQuestion>,
): Promise<void> {
  authorize(ctx, 'write_assessments')
  const { responseType, search, categoryId } = filter
  const filterDetails = { kind: responseType, category: categoryId && 'yes', searched: search && 'yes' }
  await runExport(ctx, { action: 'exported_questions', filter: filterDetails }, readBatches(ctx, filter), write)
}

/**
 * Reads the questions that an export would have, without recording an export.
 *
 * @returns `isCut`: true if there are more questions than a file may have.
 * @throws DomainError not_permitted, too_many_exports.
 */
export async function previewExport(
  ctx: Context,
  filter: LibraryFilter,
  look: WriteBatch<ExportedLibraryQuestion>,
): Promise<{ isCut: boolean }> {
  authorize(ctx, 'write_assessments')
  let last: string | undefined
  let exportedCount = 0
  await exportRows(ctx, readBatches(ctx, filter), async (questions) => {
    exportedCount += questions.length
    last = questions.at(-1)?.id ?? last
    await look(questions)
  })
  const isFull = exportedCount === MAX_EXPORTED
  return { isCut: isFull && (await listLibrary(ctx, { ...filter, before: last }, 1)).items.length > 0 }
}

/** Returns a function that reads the next batch, newest questions first. */
function readBatches(ctx: Context, filter: LibraryFilter): () => Promise<ExportedLibraryQuestion[]> {
  let [remaining, before] = [MAX_EXPORTED, undefined as string | undefined]
  return async () => {
    const batch: ExportedLibraryQuestion[] = []
    // Deleted questions are replaced by further ones, because a batch that is not full would be the last.
    while (remaining > 0 && batch.length < EXPORTED_AT_ONCE) {
      const { items, hasOlder } = await listLibrary(
        ctx,
        { ...filter, before },
        Math.min(remaining, EXPORTED_AT_ONCE - batch.length),
      )
      const ids = items.map(({ id }) => id)
      const contents = await readContents(ctx, ids)
      for (const { id, name, category } of items) {
        const content = contents.get(id)
        if (content) batch.push({ id, name, category: category ?? '', content })
      }
      remaining = hasOlder ? remaining - items.length : 0
      before = ids.at(-1)
    }
    return batch
  }
}

/** Newest version of each library question, by question id. */
async function readContents(ctx: Context, ids: readonly string[]): Promise<Map<string, LibraryContent>> {
  const newest = ctx.db
    .selectFrom('libraryQuestions')
    .where('libraryQuestions.id', '=', anyOfIds(ids))
    .innerJoin(ctx.db.table('libraryVersions'), (join) =>
      join
        .onRef('libraryVersions.libraryQuestionId', '=', 'libraryQuestions.id')
        .onRef('libraryVersions.number', '=', 'libraryQuestions.number'),
    )
    .select(['libraryQuestions.id', 'libraryVersions.content', 'libraryVersions.versionId'])
  const found = await newest.execute()
  const definitions = await readDefinitionsWithKeys(
    ctx,
    found.flatMap(({ versionId }) => versionId ?? []),
  )
  return new Map(
    found.map(({ id, content, versionId }) => [
      id,
      {
        input: content as unknown as QuestionInput,
        definition: (versionId && definitions.get(versionId)) || null,
      },
    ]),
  )
}
