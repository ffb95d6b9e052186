import { createHmac } from 'node:crypto'
import { newOpenToken } from '../domain/secrets/registration-tokens.ts'
import { caseKey, nameKeys, searchKey, searchWords, userKeys } from '../domain/text/fold-text.ts'
import { importedId } from '../domain/text/uuid.ts'
import { findRefusedColumn, isTooDeep, type Row } from './check-row.ts'
import { type ExportedName, snake } from './tables.ts'
import { TransferError } from './transfer-error.ts'

/** The organization in this installation. */
export type Destination = {
  /** The exported id, if every exported id is free. */
  organizationId: string
  exportedId: string
  name: string
  feedBeginsAt: number
  secretKey: string
  /** Ids of the installation's languages, by the exported ids. */
  languageIds: ReadonlyMap<string, string>
  /** Ids that texts and JSON may mention; they are replaced if ids change. */
  mentionedIds: ReadonlySet<string>
}

/** Columns of a file, and those that hold ids. @property hasOrganization true if the table has the column `organization_id`. */
export type RowShape = { columns: readonly string[]; idColumns: ReadonlySet<string>; hasOrganization: boolean }

/** Values that an import computes, by table. */
const COMPUTED: { [T in ExportedName]?: (row: Row, to: Destination) => Row } = {
  organizations: (_row, { name, feedBeginsAt }) => ({ name, name_key: caseKey(name), feed_begins_at: feedBeginsAt }),
  users: (row) => {
    const names = { firstName: textOf(row.first_name), lastName: textOf(row.last_name), email: textOf(row.email) }
    const { firstNameKey, lastNameKey, searchKey } = userKeys(names)
    return { first_name_key: firstNameKey, last_name_key: lastNameKey, search_key: searchKey }
  },
  tags: namesOf,
  assessments: namesOf,
  libraryQuestions: (row) => ({ name_words: searchWords(textOf(row.name)) }),
  invites: (row) => ({ recipient_name_search: row.recipient_name === null ? null : searchKey(textOf(row.recipient_name)) }),
  openLinks: () => ({ token: newOpenToken() }),
  assets: (row, to) => ({ key: importedKey(to, textOf(row.id)) }),
  mediaFiles: (row, to) => ({ key: importedKey(to, textOf(row.id)) }),
}
/** Columns that {@link readRow} adds. */
export const ADDED_COLUMNS: { [T in ExportedName]?: readonly string[] } = {
  organizations: ['name_key', 'feed_begins_at'],
  users: ['first_name_key', 'last_name_key', 'search_key'],
  tags: ['name_key', 'name_search'],
  assessments: ['name_key', 'name_search'],
  libraryQuestions: ['name_words'],
  invites: ['recipient_name_search'],
  openLinks: ['token'],
  assets: ['key'],
  mediaFiles: ['key'],
}

function namesOf(row: Row): Row {
  const { nameKey, nameSearch } = nameKeys(textOf(row.name))
  return { name_key: nameKey, name_search: nameSearch }
}

/** Key of a file in the store: another import of the same organization finds and replaces it, and nobody can guess it. */
export const importedKey = (
  { organizationId, secretKey }: Pick<Destination, 'organizationId' | 'secretKey'>,
  id: string,
): string =>
  `${organizationId}/${createHmac('sha256', secretKey).update(`imported file ${organizationId} ${id}`).digest('hex').slice(0, 32)}`

/** A row of a checked export as it is inserted. */
export function readRow(table: ExportedName, shape: RowShape, line: string, to: Destination): Row {
  const exported = parseRow(table, shape, line)
  const row = to.mentionedIds.size === 0 ? exported : parseRow(table, shape, replaceMentions(line, to))
  for (const column of shape.idColumns) row[column] = renew(exported[column], column, to)
  return { ...row, ...(shape.hasOrganization && { organization_id: to.organizationId }), ...COMPUTED[table]?.(row, to) }
}

/** A row of an export. @throws TransferError for an invalid row, or would harm others. */
export function checkRow(table: ExportedName, shape: RowShape, line: string): Row {
  const row = parseRow(table, shape, line)
  const isRefused = 'id' in row && !(typeof row.id === 'string' && ID.test(row.id))
  const refused = isRefused ? 'id' : findRefusedColumn(table, row)
  if (refused) throw new TransferError(`${snake(table)} has a row whose ${refused} is refused.`)
  return row
}
/** As PostgreSQL writes them. */
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** @throws TransferError for an invalid row. */
export function parseRow(table: ExportedName, { columns }: Pick<RowShape, 'columns'>, line: string): Row {
  const row = parse(line)
  const isWhole =
    row !== null && columns.every((column) => Object.hasOwn(row, column)) && Object.keys(row).length === columns.length
  if (!isWhole || isTooDeep(row)) throw new TransferError(`${snake(table)} has an invalid row.`)
  return row
}

function parse(line: string): Row | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && !Array.isArray(value) ? (value as Row) : null
  } catch {
    return null
  }
}

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const replaceMentions = (line: string, { mentionedIds, organizationId, exportedId }: Destination): string =>
  line.replaceAll(UUIDS, (id) => (mentionedIds.has(id) ? importedId(organizationId, exportedId, id) : id))

function renew(value: unknown, column: string, to: Destination): unknown {
  if (Array.isArray(value)) return value.map((item) => renew(item, column, to))
  if (typeof value !== 'string') return value
  if (column === 'language_id') return to.languageIds.get(value) ?? value
  return importedId(to.organizationId, to.exportedId, value)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
