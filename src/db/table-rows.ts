import type { Connection } from './client.ts'
import { rawStatement } from './statements.ts'
import { transact } from './transact.ts'

// Rows of any table as JSON, by names of the database. For copies of an organization, see src/transfer.

/** @property type PostgreSQL's name: `uuid`, `_uuid` for a list. */
export type TableColumn = { name: string; type: string }
/** @property key columns of the primary key. */
export type TableShape = { columns: TableColumn[]; key: string[] }

/** Milliseconds. */
const LONGEST_TRANSACTION = 24 * 3_600_000

const run = <Row = object>(db: Connection, text: string, values: unknown[] = []): Promise<Row[]> =>
  rawStatement<Row>(db, { text, values }).execute()

/** Shapes of all tables of the schema. */
export async function readShapes(db: Connection): Promise<Map<string, TableShape>> {
  const rows = await run<TableColumn & { table: string; keyAt: number | null }>(
    db,
    `SELECT c.relname::text AS table, a.attname::text AS name, t.typname::text AS type, array_position(i.indkey::int2[], a.attnum) AS "keyAt"
     FROM pg_class c
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     JOIN pg_type t ON t.oid = a.atttypid
     LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
     ORDER BY c.relname, a.attnum`,
  )
  const shapes = [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]): [string, TableShape] => {
    const key = columns.filter(({ keyAt }) => keyAt !== null).sort((a, b) => a.keyAt! - b.keyAt!)
    return [table, { columns: columns.map(({ name, type }) => ({ name, type })), key: key.map(({ name }) => name) }]
  })
  return new Map(shapes)
}

/** Reads in one snapshot, which stays open for as long as the work takes. Nothing can be written. */
export const inSnapshot = <T>(db: Connection, work: (inside: Connection) => Promise<T>): Promise<T> =>
  inLongTransaction(db, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', work)

/** A transaction that may take hours, and each of its statements, too. */
export const inOneTransaction = <T>(db: Connection, work: (inside: Connection) => Promise<T>): Promise<T> =>
  inLongTransaction(db, 'SET LOCAL lock_timeout = 60000', work)

const inLongTransaction = <T>(db: Connection, first: string, work: (inside: Connection) => Promise<T>): Promise<T> =>
  transact(
    db,
    async (inside) => {
      await run(inside, first)
      await run(inside, 'SET LOCAL statement_timeout = 0')
      await run(inside, `SET LOCAL idle_in_transaction_session_timeout = '5min'`)
      return work(inside)
    },
    { timeout: LONGEST_TRANSACTION },
  )

/** Rows of a query as JSON texts, in batches. Only within a transaction: the rows are read by a cursor. */
export async function* readAsJson(inside: Connection, query: string, atOnce: number): AsyncGenerator<string[]> {
  await run(
    inside,
    `DECLARE json_rows NO SCROLL CURSOR FOR SELECT row_to_json(selected)::text AS line FROM (${query}) AS selected`,
  )
  for (;;) {
    const rows = await run<{ line: string }>(inside, `FETCH ${atOnce} FROM json_rows`)
    if (rows.length > 0) yield rows.map(({ line }) => line)
    if (rows.length < atOnce) break
  }
  await run(inside, 'CLOSE json_rows')
}

/** Inserts rows that are given as JSON. @param columns columns to insert; the others get their default. */
export async function insertJson(
  inside: Connection,
  table: string,
  {
    columns,
    rows,
    ignoresConflicts = false,
  }: { columns: readonly string[]; rows: readonly object[]; ignoresConflicts?: boolean },
): Promise<void> {
  const names = columns.map((name) => `"${name}"`).join(', ')
  const end = ignoresConflicts ? ' ON CONFLICT DO NOTHING' : ''
  const text = `INSERT INTO "${table}" (${names}) SELECT ${names} FROM json_populate_recordset(NULL::"${table}", $1::json)${end}`
  await run(inside, text, [JSON.stringify(rows)])
}

/** True if a row of the table has one of the ids. */
export async function hasAnyId(db: Connection, table: string, ids: readonly string[]): Promise<boolean> {
  const text = `SELECT EXISTS (SELECT FROM "${table}" WHERE id = ANY ($1::uuid[])) AS found`
  return (await run<{ found: boolean }>(db, text, [ids]))[0]!.found
}

/** Deletes the organization's rows of a table. */
export const deleteRowsOf = (inside: Connection, table: string, organizationId: string): Promise<object[]> =>
  run(inside, `DELETE FROM "${table}" WHERE organization_id = $1::uuid`, [organizationId])

export async function countRowsOf(inside: Connection, table: string, organizationId: string): Promise<number> {
  const text = `SELECT count(*)::int AS rows FROM "${table}" WHERE organization_id = $1::uuid`
  return (await run<{ rows: number }>(inside, text, [organizationId]))[0]!.rows
}
