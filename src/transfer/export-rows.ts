import { inSnapshot, readAsJson, readShapes, type TableShape } from '../db/table-rows.ts'
import type { Connection, Context } from '../domain/context.ts'
import type { FileFacts, RowsManifest, TableFacts } from './manifest.ts'
import { type ExportedName, exportedNames, OMITTED, type OmittedTable, policyOf, snake } from './tables.ts'

const ROWS_AT_ONCE = 1_000

type ExportedRows = Pick<RowsManifest, 'tables' | 'itemsToRecreate' | 'positions' | 'snapshotMs'>

/** Writes the file of a table. @returns its figures for the manifest. */
export type WriteTable = (table: string, batches: AsyncIterable<string[]>) => Promise<FileFacts>

/** Writes all rows of the organization, as they are at one moment. @param omitted tables that are left out. */
export async function exportRows(
  ctx: Context,
  write: WriteTable,
  omitted: ReadonlySet<ExportedName> = new Set(),
): Promise<ExportedRows> {
  const shapes = await readShapes(ctx.db)
  const { id } = ctx.organization
  const start = performance.now()
  const rows = await inSnapshot(ctx.db, async (inside) => {
    const tables: Record<string, TableFacts> = {}
    for (const name of exportedNames) {
      if (omitted.has(name)) continue
      const table = snake(name)
      const columns = exportedColumns(name, shapes.get(table)!)
      const batches = readAsJson(inside, selectRows(name, shapes.get(table)!, id), ROWS_AT_ONCE)
      tables[table] = { ...(await write(table, batches)), columns }
    }
    return { tables, itemsToRecreate: await listOmitted(inside, id), positions: await readPositions(inside) }
  })
  return { ...rows, snapshotMs: Math.round(performance.now() - start) }
}

/** Columns of a table's file. The organization is not among them. */
export function exportedColumns(name: ExportedName, { columns }: TableShape): string[] {
  const omitted = new Set(['organization_id', ...Object.keys(policyOf(name).without ?? {}).map(snake)])
  return columns.flatMap((column) => (omitted.has(column.name) ? [] : [column.name]))
}

function selectRows(name: ExportedName, shape: TableShape, organizationId: string): string {
  const { as = {}, where, order, totals } = policyOf(name)
  const replaced = new Map(Object.entries(as).map(([column, expression]) => [snake(column), expression]))
  const selected = exportedColumns(name, shape).map((column) => `${replaced.get(column) ?? `"${column}"`} AS "${column}"`)
  const isOwned = shape.columns.some((column) => column.name === 'organization_id')
  const conditions = [...(isOwned ? ['organization_id = :organization'] : []), ...(where ? [`(${where})`] : [])].join(' AND ')
  const groupBy = (totals?.groupBy ?? []).map((column) => `"${snake(column)}"`)
  const key = shape.key.filter((column) => column !== 'organization_id').map((column) => `"${column}"`)
  const sortedBy = groupBy.length > 0 ? groupBy : (order?.map((column) => `"${snake(column)}"`) ?? key)
  const source = `SELECT ${selected.join(', ')} FROM "${snake(name)}" WHERE ${conditions}`
  const grouped = groupBy.length > 0 ? ` GROUP BY ${groupBy.join(', ')}` : ''
  const sorted = sortedBy.length > 0 ? ` ORDER BY ${sortedBy.join(', ')}` : ''
  return (source + grouped + sorted).replaceAll(':organization', `'${organizationId}'::uuid`)
}

/** Names of keys, webhooks, and connections, which have to be created again. */
async function listOmitted(inside: Connection, organizationId: string): Promise<Record<string, string[]>> {
  const listed: Record<string, string[]> = {}
  for (const [name, omitted] of Object.entries(OMITTED) as [string, OmittedTable][]) {
    if (!('listed' in omitted) || !omitted.listed) continue
    const query = `SELECT "${snake(omitted.listed)}" AS name FROM "${snake(name)}" WHERE organization_id = '${organizationId}'::uuid ORDER BY 1`
    const names: string[] = []
    for await (const lines of readAsJson(inside, query, ROWS_AT_ONCE))
      names.push(...lines.map((line) => (JSON.parse(line) as { name: string }).name))
    if (names.length > 0) listed[snake(name)] = names
  }
  return listed
}

async function readPositions(inside: Connection): Promise<RowsManifest['positions']> {
  const query = 'SELECT e.position AS events, a.position AS audit FROM event_sequence e, audit_sequence a'
  const rows: RowsManifest['positions'][] = []
  for await (const lines of readAsJson(inside, query, ROWS_AT_ONCE)) rows.push(...lines.map((line) => JSON.parse(line)))
  return rows[0]!
}
