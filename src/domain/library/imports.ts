import { setImmediate } from 'node:timers/promises'
import { sql } from '../../db/builder.ts'
import { insertRows } from '../../db/writes.ts'
import { type LibraryImport, Prisma } from '../../generated/prisma/client.ts'
import { findQuestionIssues } from '../assessments/check-question.ts'
import { findDefinitionIssues } from '../assessments/define-question.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorOf } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { listPage, pickColumns, projectionOf, type RowOf } from '../lists/listing.ts'
import type { ListPage, PageRequest } from '../lists/page.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { createFileError, type ReadParts, truncateText } from '../validation/uploaded-files.ts'
import { findCategoryIssues, tidyPath } from './categories.ts'
import { hashContent, type LibraryContent, nameFromContent } from './content.ts'

// Imports of question files: first a preview of each question's outcome, then a job imports them.

/** Before the import: `ready`, `losses` (imported with losses), `there` (duplicate), `refused`. After it: `taken` (imported), `undone`. */
export const IMPORT_STATES = ['ready', 'losses', 'there', 'refused', 'taken', 'undone'] as const
export type ImportState = (typeof IMPORT_STATES)[number]

/** The order in which a preview shows the states. */
const FAULTY_FIRST: ImportState[] = ['refused', 'losses', 'there', 'ready', 'undone', 'taken']

/** A question of a file. @property notes parts that are lost, or the reason for refusing the question. */
export type QuestionToImport = { line: number; name: string; category: string; notes: string[]; content: LibraryContent | null }

/** Reads a file part by part. @returns its format, and the headings of the columns that nothing is read from. */
export type ReadQuestionFile = ReadParts<QuestionToImport, { format: string; unusedColumns: string[] }>

export const MAX_IMPORTED = 5_000
/** Time during which an import can be undone. */
export const UNDO_WITHIN_MS = 86_400_000
const ASKED_AT_ONCE = 500
/** Questions that are checked before others' requests get their turn. */
const CHECKED_AT_ONCE = 25
/** Characters of a sentence about a question. */
const MAX_NOTE = 300
/** Characters of a category with all above it. */
const MAX_PATH = 1_000

export type { LibraryImport }

const shownRow = pickColumns(projectionOf('libraryImportRows', Prisma.LibraryImportRowScalarFieldEnum), [
  ...(['name', 'line', 'state', 'category', 'notes', 'libraryQuestionId'] as const),
])
export type ImportRow = RowOf<typeof shownRow>
const rowList = {
  table: 'libraryImportRows',
  key: 'number',
  filters: { importId: '=', state: '=' },
  sorts: { faults: () => sql`array_position(${FAULTY_FIRST}::text[], ${sql.ref('libraryImportRows.state')})` },
} as const

/**
 * Stores the questions of a file part by part while reading it, with the outcome of each. Nothing is imported yet. Each part is a
 * transaction; after a failure the import stays invisible, and delete-expired-imports.ts deletes it.
 *
 * @returns its id. @throws DomainError not_permitted; invalid as readFile, and at `file`: `empty`, `tooManyRows`.
 */
export async function createImport(
  ctx: Context,
  { fileName, readFile }: { fileName: string; readFile: ReadQuestionFile },
): Promise<string> {
  authorize(ctx, 'write_assessments')
  const { db, deps, organization } = ctx
  const [organizationId, importId] = [organization.id, deps.newId()]
  const seenHashes = new Set<string>()
  let count = 0
  const facts = await readFile(async (questions) => {
    if (count + questions.length > MAX_IMPORTED) throw createFileError('file', 'tooManyRows', MAX_IMPORTED)
    if (count === 0) {
      const { createdById } = authorOf(ctx)
      const head = { organizationId, id: importId, createdById, createdAt: deps.clock(), isLoading: true }
      await db.libraryImport.create({ data: { ...head, fileName: truncateText(fileName, MAX_NAME_LENGTH), format: '' } })
    }
    const rows = await toRows(ctx, questions, seenHashes)
    const numbered = rows.map((row, i) => ({ organizationId, importId, ...row, number: count + i + 1 }))
    await insertRows(db, { libraryImportRows: numbered }).execute()
    count += questions.length
  })
  if (count === 0) throw createFileError('file', 'empty')
  await db.libraryImport.updateMany({ where: { organizationId, id: importId }, data: { ...facts, isLoading: false } })
  return importId
}

/** @param seenHashes hashes of the questions before these; theirs are added. */
async function toRows(ctx: Context, questions: QuestionToImport[], seenHashes: Set<string>) {
  const checked: (QuestionToImport & ReturnType<typeof checkContent>)[] = []
  for (const [i, question] of questions.entries()) {
    if (i % CHECKED_AT_ONCE === 0) await setImmediate()
    checked.push({ ...question, ...checkContent(ctx, question) })
  }
  const inLibrary = await findInLibrary(
    ctx,
    checked.flatMap(({ contentHash }) => contentHash ?? []),
  )
  return checked.map(({ line, name, category, content, notes, contentHash }) => {
    const hash = contentHash && hexOf(contentHash)
    const isThere = hash !== null && (inLibrary.has(hash) || seenHashes.has(hash))
    if (hash !== null) seenHashes.add(hash)
    return {
      line,
      state: stateOf(content, isThere, notes),
      name: truncateText(name || (content ? nameFromContent(content.input) : ''), MAX_NAME_LENGTH),
      category: truncateText(tidyPath(category), MAX_PATH),
      question: content && !isThere ? (content as unknown as Prisma.JsonObject) : null,
      contentHash,
      notes: notes.map((note) => truncateText(note, MAX_NOTE)),
      libraryQuestionId: null,
    }
  })
}

function checkContent(ctx: Context, { content, category, notes }: QuestionToImport) {
  const fault = content && findContentFault(ctx, content, category)
  return content && !fault
    ? { content, notes, contentHash: hashContent(content) }
    : { content: null, notes: fault ? [fault] : notes, contentHash: null }
}

const hexOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex')

/** Hashes that are in the library. */
async function findInLibrary({ db, organization }: Context, hashes: Uint8Array<ArrayBuffer>[]): Promise<Set<string>> {
  const found = new Set<string>()
  for (let i = 0; i < hashes.length; i += ASKED_AT_ONCE) {
    const where = { organizationId: organization.id, contentHash: { in: hashes.slice(i, i + ASKED_AT_ONCE) } }
    const versions = await db.libraryVersion.findMany({ where, select: { contentHash: true } })
    for (const { contentHash } of versions) found.add(hexOf(contentHash))
  }
  return found
}

/** Why a question that could be read can't be kept in that category; null where nothing is in its way. */
export function findContentFault(ctx: Context, { input, definition }: LibraryContent, category: string): string | null {
  const [issue] = [
    ...findQuestionIssues(input),
    ...(definition ? findDefinitionIssues(ctx, definition) : []),
    ...findCategoryIssues(category),
  ]
  if (!issue) return null
  if (issue.field === 'category' && issue.rule === 'malformed') return issue.text
  const limit = 'limit' in issue && typeof issue.limit === 'number' ? ` ${issue.limit}` : ''
  return `${issue.field} is not taken: ${issue.rule}${limit}.`
}

function stateOf(content: LibraryContent | null, isThere: boolean, notes: string[]): ImportState {
  if (content === null) return 'refused'
  if (isThere) return 'there'
  return notes.length > 0 ? 'losses' : 'ready'
}

/** @throws DomainError not_permitted, library_import_not_found. */
export async function getImport(ctx: Context, id: string): Promise<LibraryImport & { counts: Record<ImportState, number> }> {
  authorize(ctx, 'write_assessments')
  const organizationId = ctx.organization.id
  const found = isUuid(id) ? await ctx.db.libraryImport.findFirst({ where: { organizationId, id, isLoading: false } }) : null
  if (!found) throw new DomainError('library_import_not_found')
  const groups = await ctx.db.libraryImportRow.groupBy({ by: ['state'], where: { organizationId, importId: id }, _count: true })
  const counted = new Map(groups.map(({ state, _count }) => [state, _count]))
  const counts = Object.fromEntries(IMPORT_STATES.map((state) => [state, counted.get(state) ?? 0])) as Record<ImportState, number>
  return { ...found, counts }
}

/** Questions of the import in the order of the file, those with issues first. @param state undefined: all. */
export function listImportRows(
  ctx: Context,
  importId: string,
  state: ImportState | undefined,
  page: PageRequest,
): Promise<ListPage<ImportRow>> {
  authorize(ctx, 'write_assessments')
  const order = { field: 'faults', direction: 'asc' } as const
  return listPage(ctx, rowList, { projection: shownRow, filter: { importId, state }, order, page })
}

/** Starts the import of its questions. Repeating it changes nothing. @throws DomainError not_permitted, library_import_not_found. */
export async function startImport(ctx: Context, id: string): Promise<void> {
  await getImport(ctx, id)
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { organizationId: organization.id, id, startedAt: null }
    const { count } = await db.libraryImport.updateMany({ where, data: { startedAt: deps.clock() } })
    if (count === 0) return
    await deps.queue.enqueueLibraryImport(db, { organizationId: organization.id, importId: id })
    await recordAudit(inside, { action: 'imported_questions', target: { kind: 'library_import', id } })
  })
}

export const isUndoable = ({ finishedAt, revertedAt }: LibraryImport, now: Date): boolean =>
  finishedAt !== null && revertedAt === null && now.getTime() - finishedAt.getTime() < UNDO_WITHIN_MS

/**
 * Reverts an import within a day: removes its questions from the library, except questions that are used or have another version.
 *
 * @throws DomainError not_permitted, library_import_not_found; invalid, `undoneTooLate`.
 */
export async function undoImport(ctx: Context, id: string): Promise<void> {
  const found = await getImport(ctx, id)
  if (!isUndoable(found, ctx.deps.clock())) throw createFileError('file', 'undoneTooLate')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const scope = { organizationId: organization.id }
    const unused = { ...scope, importId: id, uses: 0, number: 1 }
    const deletedQuestions = await db.libraryQuestion.findMany({
      where: unused,
      select: { id: true, versions: { select: { versionId: true } } },
    })
    const ids = deletedQuestions.map((question) => question.id)
    const versionIds = deletedQuestions.flatMap(({ versions }) => versions.flatMap(({ versionId }) => versionId ?? []))
    for (let i = 0; i < ids.length; i += ASKED_AT_ONCE) {
      const batch = ids.slice(i, i + ASKED_AT_ONCE)
      await db.libraryQuestion.deleteMany({ where: { ...unused, id: { in: batch } } })
      await db.libraryImportRow.updateMany({
        where: { ...scope, importId: id, libraryQuestionId: { in: batch } },
        data: { state: 'undone', libraryQuestionId: null },
      })
    }
    for (let i = 0; i < versionIds.length; i += ASKED_AT_ONCE) {
      const batch = versionIds.slice(i, i + ASKED_AT_ONCE)
      await db.questionVersion.deleteMany({
        where: { ...scope, id: { in: batch }, questions: { none: {} }, papers: { none: {} }, library: { none: {} } },
      })
    }
    await db.libraryImport.updateMany({ where: { ...scope, id }, data: { revertedAt: deps.clock() } })
    await recordAudit(inside, { action: 'undid_import', target: { kind: 'library_import', id } })
  })
}
