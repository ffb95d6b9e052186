import { type FileHandle, open, rm } from 'node:fs/promises'
import path from 'node:path'
import { sql } from '../db/builder.ts'
import { anyOfIds } from '../db/queries.ts'
import { countRowsOf, deleteRowsOf, insertJson } from '../db/table-rows.ts'
import { unscoped } from '../db/unscoped.ts'
import type { Connection, Context, ServiceContext } from '../domain/context.ts'
import { importedId } from '../domain/text/uuid.ts'
import type { CheckedExport } from './check-export.ts'
import type { Row } from './check-row.ts'
import type { ExportSource } from './export-source.ts'
import { ADDED_COLUMNS, type Destination, parseRow, type RowShape, readRow } from './import-row.ts'
import { inBatches, readLines } from './json-lines.ts'
import { type Manifest, tableFile } from './manifest.ts'
import { type ExportedName, policyOf, snake } from './tables.ts'
import { TransferError } from './transfer-error.ts'

type Import = { source: ExportSource; manifest: Manifest; checked: CheckedExport; to: Destination }

/**
 * Inserts all rows of the organization, in the transaction that is open.
 *
 * @param ids file that gets each new id; null: ids are kept. @returns numbers of rows by table.
 */
export async function importRows(ctx: Context, work: Import, ids: FileHandle | null): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const userIds = new Set<unknown>()
  for (const [name, shape] of work.checked.shapes) {
    if (name === 'languages') continue
    await importTable(ctx, work, name, shape, async (lines, rows) => {
      requireOwnUsers(name, rows, userIds)
      if (ids && shape.columns.includes('id')) await ids.appendFile(toIdLines(name, shape, lines, rows))
    })
    counts[snake(name)] = work.manifest.tables[snake(name)]!.rows
  }
  await deleteMediaWithoutFile(ctx, work.checked, work.to)
  return counts
}

/** @param check called with each batch before it is inserted. */
async function importTable(
  { db }: Context,
  { source, manifest, to }: Import,
  name: ExportedName,
  shape: RowShape,
  check: (lines: string[], rows: Row[]) => Promise<void>,
): Promise<void> {
  const table = snake(name)
  const facts = manifest.tables[table]!
  const columns = [...shape.columns, ...(ADDED_COLUMNS[name] ?? []), ...(shape.hasOrganization ? ['organization_id'] : [])]
  if (policyOf(name).totals) await deleteRowsOf(db, table, to.organizationId)
  for await (const lines of inBatches(readLines(source, tableFile(table), facts), (line) => line.length)) {
    const rows = lines.map((line) => readRow(name, shape, line, to))
    await check(lines, rows)
    await insertRows(db, table, columns, rows)
  }
  if (shape.hasOrganization && (await countRowsOf(db, table, to.organizationId)) !== facts.rows)
    throw new TransferError(`The number of rows in ${table} differs from the manifest.`)
}

/** Members of an import have accounts of their own, never those of other organizations. */
function requireOwnUsers(name: ExportedName, rows: Row[], userIds: Set<unknown>): void {
  if (name === 'users') for (const { id } of rows) userIds.add(id)
  if (name === 'members' && rows.some(({ user_id }) => !userIds.has(user_id)))
    throw new TransferError('members has a row whose account is not in the export.')
}

const insertRows = (inside: Connection, table: string, columns: string[], rows: Row[]): Promise<void> =>
  insertJson(inside, table, { columns, rows }).catch((cause: Error) => {
    throw new TransferError(`${table} has a row that the database refuses: ${cause.message}`, { cause })
  })

const toIdLines = (name: ExportedName, shape: RowShape, lines: string[], rows: Row[]): string =>
  lines
    .map((line, i) => ({ table: snake(name), exported: parseRow(name, shape, line).id, imported: rows[i]!.id }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

/** Media that were erased before they could be exported. The sweep deletes their files. */
async function deleteMediaWithoutFile(ctx: Context, { files }: CheckedExport, { organizationId, exportedId }: Destination) {
  const copied = new Set([...files.values()].map(({ id }) => importedId(organizationId, exportedId, id)))
  const ready = ctx.db.selectFrom('mediaFiles').where('state', '=', 'ready').select('id').orderBy('id').limit(MEDIA_AT_ONCE)
  for (let last: string | undefined; ; ) {
    const ids = (await (last === undefined ? ready : ready.where('id', '>', last)).execute()).map(({ id }) => id)
    const missing = ids.filter((id) => !copied.has(id))
    const rows = ctx.db.updateTable('mediaFiles').where('id', '=', anyOfIds(missing))
    if (missing.length > 0) await rows.set({ state: 'deleted', deletedAt: ctx.deps.clock() }).execute()
    last = ids.at(-1)
    if (ids.length < MEDIA_AT_ONCE) return
  }
}
const MEDIA_AT_ONCE = 5_000

/**
 * Adds languages that this installation lacks. It is a transaction of its own, because all organizations share languages.
 *
 * @returns ids here, by exported ids.
 */
export async function importLanguages(ctx: ServiceContext, { source, manifest, checked }: Omit<Import, 'to'>) {
  const shape = checked.shapes.get('languages')
  const facts = manifest.tables.languages
  if (!shape || !facts) return new Map<string, string>()
  const rows: Row[] = []
  for await (const line of readLines(source, tableFile('languages'), facts)) {
    if (rows.push(parseRow('languages', shape, line)) > MOST_LANGUAGES) throw new TransferError('There are too many languages.')
  }
  const insert = (languages: Row[]) =>
    insertJson(ctx.db, 'languages', { columns: shape.columns, rows: languages, ignoresConflicts: true })
  await insert(rows)
  // Another language has the exported id.
  await insert(rows.map((row) => ({ ...row, id: ctx.deps.newId() })))
  const codes = rows.map(({ code }) => code as string)
  const found = unscoped(ctx.db).selectFrom('languages').where('code', '=', sql<string>`any(${codes}::text[])`)
  const idByCode = new Map((await found.select(['id', 'code']).execute()).map(({ id, code }) => [code, id]))
  return new Map(rows.map((row) => [row.id as string, idByCode.get(row.code as string)!]))
}
const MOST_LANGUAGES = 500

/** File that gets a line for each new id. An export may have a link of this name, so the file is always a new one. */
export async function openIdFile(folder: string, organizationId: string): Promise<FileHandle> {
  const file = path.join(folder, `ids-${organizationId}.jsonl`)
  await rm(file, { force: true })
  return open(file, 'wx', 0o600)
}
