import { hasAnyId, readShapes, type TableShape } from '../db/table-rows.ts'
import type { ServiceContext } from '../domain/context.ts'
import { exportedColumns } from './export-rows.ts'
import { type ExportSource, openFile } from './export-source.ts'
import type { RowShape } from './import-row.ts'
import { checkRow, parseRow } from './import-row.ts'
import { inBatches, readLines } from './json-lines.ts'
import { type Manifest, MEDIA_LIST, tableFile } from './manifest.ts'
import { type MediaLine, nameOfMedia, parseMediaLine } from './media-list.ts'
import { type ExportedName, exportedNames, snake } from './tables.ts'
import { TransferError } from './transfer-error.ts'

/** Tables with many rows whose ids occur in no text. */
const UNMENTIONED: ReadonlySet<ExportedName> = new Set([
  'answerAttempts',
  'auditEntries',
  'events',
  'grades',
  'gradingNotes',
  'sessionEvents',
])

/** @property isFree true if no row of this database has one of the exported ids. */
export type CheckedExport = { shapes: Map<ExportedName, RowShape>; files: Map<string, MediaLine>; isFree: boolean }

/**
 * Reads the whole export but the contents of media, and writes nothing.
 *
 * @throws TransferError for tables or columns that this release doesn't know, and for files that don't match the manifest.
 */
export async function checkExport(ctx: ServiceContext, source: ExportSource, manifest: Manifest): Promise<CheckedExport> {
  const tables = await readShapes(ctx.db)
  checkTables(manifest)
  const shapes = new Map<ExportedName, RowShape>()
  let isFree = true
  for (const name of exportedNames) {
    const facts = manifest.tables[snake(name)]
    if (!facts) continue // of an earlier release
    const table = tables.get(snake(name))!
    const shape = toRowShape(name, table, facts.columns)
    shapes.set(name, shape)
    const isGlobal = name !== 'languages' && table.key.join() === 'id'
    for await (const lines of inBatches(readLines(source, tableFile(snake(name)), facts), (line) => line.length)) {
      const ids = lines.map((line) => checkRow(name, shape, line).id as string)
      if (name === 'organizations' && ids[0] !== manifest.organization.id)
        throw new TransferError('organizations has another id than the manifest.')
      if (isGlobal && isFree) isFree = !(await hasAnyId(ctx.db, snake(name), ids))
    }
  }
  return { shapes, files: await readMediaList(source, manifest), isFree }
}

function checkTables({ tables }: Manifest): void {
  const unknown = Object.keys(tables).find((table) => !exportedNames.some((name) => snake(name) === table))
  if (unknown !== undefined) throw new TransferError(`The export has a table ${unknown}, which this release does not know.`)
  if (tables.organizations?.rows !== 1) throw new TransferError('The export has no organization, or several.')
}

function toRowShape(name: ExportedName, table: TableShape, columns: string[]): RowShape {
  const knownColumns = exportedColumns(name, table)
  const unknown = columns.find((column) => !knownColumns.includes(column))
  if (unknown) throw new TransferError(`The export has a column ${snake(name)}.${unknown}, which this release does not know.`)
  const idColumns = table.columns.filter(({ name: column, type }) => /^_?uuid$/.test(type) && columns.includes(column))
  return {
    columns,
    idColumns: new Set(idColumns.map((column) => column.name)),
    hasOrganization: table.columns.some((column) => column.name === 'organization_id'),
  }
}

/** Ids that texts and JSON of the export may mention. */
export async function readMentionedIds(
  source: ExportSource,
  manifest: Manifest,
  { shapes }: CheckedExport,
): Promise<Set<string>> {
  const ids = new Set([manifest.organization.id])
  for (const [name, shape] of shapes) {
    if (!shape.columns.includes('id') || UNMENTIONED.has(name) || name === 'languages') continue
    for await (const line of readLines(source, tableFile(snake(name)), manifest.tables[snake(name)]!))
      ids.add(parseRow(name, shape, line).id as string)
  }
  return ids
}

/** Files of media by name, each of the size that the list says. */
async function readMediaList(source: ExportSource, { media }: Manifest): Promise<Map<string, MediaLine>> {
  const files = new Map<string, MediaLine>()
  for await (const text of readLines(source, MEDIA_LIST, media.list)) {
    const line = parseMediaLine(text)
    if ('erased' in line) continue
    await using file = await openFile(source, nameOfMedia(line))
    if (file.bytes !== line.bytes) throw new TransferError(`${file.name} does not match the manifest.`)
    files.set(nameOfMedia(line), line)
  }
  return files
}
