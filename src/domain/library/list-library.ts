import { sql } from '../../db/builder.ts'
import { anyOfIds, type Expressions, type Rows, type SqlBool } from '../../db/queries.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { searchWords } from '../text/fold-text.ts'
import { isUuid } from '../text/uuid.ts'
import { findCategoryAndBelow } from './categories.ts'

/** @property search beginnings of words. @property before only questions older than this id. */
export type LibraryFilter = {
  search?: string | undefined
  categoryId?: string | undefined
  responseType?: string | undefined
  /** Created by this import. */
  importId?: string | undefined
  /** In no assessment. */
  isUnused?: boolean | undefined
  isRetired?: boolean | undefined
  before?: string | undefined
}

export type ListedLibraryQuestion = {
  id: string
  name: string
  responseType: string
  number: number
  uses: number
  updatedAt: Date
  category: string | null
}

/** Words that are looked for; those beyond count for nothing. */
const MAX_WORDS = 8

/**
 * Questions of the library, newest first. Reads from an index and counts nothing, so that a page costs the same for any number of
 * questions.
 *
 * @returns a page, and whether there are older questions.
 */
export async function listLibrary(
  ctx: Context,
  filter: LibraryFilter,
  size: number,
): Promise<{ items: ListedLibraryQuestion[]; hasOlder: boolean }> {
  authorize(ctx, 'read_library')
  const { responseType, before } = filter
  let rows = ctx.db.selectFrom('libraryQuestions').where('libraryQuestions.retiredAt', filter.isRetired ? 'is not' : 'is', null)
  if (filter.categoryId !== undefined) {
    const categoryIds = isUuid(filter.categoryId) ? await findCategoryAndBelow(ctx, filter.categoryId) : []
    rows = rows.where('libraryQuestions.categoryId', '=', anyOfIds(categoryIds))
  }
  if (responseType) rows = rows.where('libraryQuestions.responseType', '=', responseType)
  if (filter.importId !== undefined && isUuid(filter.importId))
    rows = rows.where('libraryQuestions.importId', '=', filter.importId)
  if (filter.isUnused) rows = rows.where('libraryQuestions.uses', '=', sql.lit(0))
  if (before !== undefined && isUuid(before)) rows = rows.where('libraryQuestions.id', '<', before)
  const words = queryOf(filter.search ?? '')
  const found = words === '' ? await readOf(ctx, rows, size) : await searchIn(ctx, rows, { words, size })
  return { items: found.slice(0, size), hasOlder: found.length > size }
}

type LibraryRows = Rows<'libraryQuestions'>

/** Newest rows: one more than a page, to tell whether there is a next page. */
function readOf(ctx: Context, rows: LibraryRows, size: number): Promise<ListedLibraryQuestion[]> {
  const page = rows
    .leftJoin(ctx.db.table('libraryCategories'), 'libraryCategories.id', 'libraryQuestions.categoryId')
    .select(['libraryQuestions.id', 'libraryQuestions.name', 'libraryQuestions.responseType', 'libraryQuestions.number'])
    .select(['libraryQuestions.uses', 'libraryQuestions.updatedAt', 'libraryCategories.path as category'])
    .orderBy('libraryQuestions.id', 'desc')
    .limit(size + 1)
  return page.execute()
}

/** Newest questions that are searched first: a frequent word is found among them quickly. */
const LOOKED_AT_FIRST = 80

/**
 * Searches the newest questions first, which finds frequent words. Rare words are found by the index, which reads all questions with the
 * word. PostgreSQL can't know beforehand which case it is.
 */
async function searchIn(
  ctx: Context,
  rows: LibraryRows,
  { words, size }: { words: string; size: number },
): Promise<ListedLibraryQuestion[]> {
  const hasWords = ({ ref }: Expressions<'libraryQuestions'>) =>
    sql<SqlBool>`array_to_tsvector(${ref('libraryQuestions.nameWords')}) @@ ${words}::tsquery`
  const newest = rows.select('libraryQuestions.id').orderBy('libraryQuestions.id', 'desc').limit(LOOKED_AT_FIRST)
  const newestMatches = await readOf(ctx, rows.where('libraryQuestions.id', 'in', newest).where(hasWords), size)
  if (newestMatches.length > size) return newestMatches
  // OFFSET 0 makes PostgreSQL plan this query separately, instead of reading all questions in order. It estimates that 2 % of all questions
  // match the beginning of a word.
  const having = rows.where(hasWords).select('libraryQuestions.id').offset(0)
  const page = ctx.db.selectFrom('libraryQuestions').where('libraryQuestions.id', 'in', (compose) =>
    compose
      .selectFrom(having.as('having'))
      .select('having.id')
      .orderBy('having.id', 'desc')
      .limit(size + 1),
  )
  return readOf(ctx, page, size)
}

/** A query for all words. The application has made them, so that PostgreSQL parses and folds nothing. */
const queryOf = (search: string): string =>
  searchWords(search)
    .slice(0, MAX_WORDS)
    .map((word) => `'${word}':*`)
    .join(' & ')
