import type { Connection } from '../db/client.ts'
import type { Tables } from '../db/queries.ts'
import { unscoped } from '../db/unscoped.ts'
import { givenRows, insertRows } from '../db/writes.ts'

export type Fields = Record<string, unknown>
export type Row = Fields & { id: string }

// Hundreds of thousands of rows: one array parameter per column is much faster than one parameter per value.

/** Inserts rows with the same fields. */
export async function createRows(tx: Connection, table: keyof Tables, rows: Fields[]): Promise<void> {
  if (rows.length > 0) await insertRows(tx, { [table]: rows }).execute()
}

/** Updates rows by id. All rows must have the same fields. */
export async function updateRows(tx: Connection, table: keyof Tables, rows: Fields[]): Promise<void> {
  const fields = Object.keys(rows[0]!).filter((field) => field !== 'id')
  if (fields.length === 0) return
  // Typed like tags, because all these tables have an id.
  const typedTable = table as 'tags'
  const changes = unscoped(tx)
    .updateTable(typedTable)
    .from(givenRows(typedTable, rows).as('changed'))
    .whereRef(`${typedTable}.id`, '=', 'changed.id')
  const change = changes.set(({ ref }) => Object.fromEntries(fields.map((field) => [field, ref(`changed.${field as 'name'}`)])))
  await change.execute()
}
