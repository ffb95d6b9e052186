import { Prisma } from '../generated/prisma/client.ts'
import { type Connection, queryRows } from './client.ts'

// Rows that are many, or asked for often. PostgreSQL makes JSON of them, which costs this process a third of what typed queries cost it, and
// a list and its length take one statement.

/** The fields that hold times, which JSON has as text. */
type TimeField<Row> = { [Field in keyof Row & string]-?: Date extends Row[Field] ? Field : never }[keyof Row & string]

/** How rows of a table are read. */
export type Shape<Row> = { table: Prisma.Sql; columns: Prisma.Sql; times: TimeField<Row>[] }

/**
 * @param fields those of the model, whose columns have the same names in snake case. None may hold bytes or a bigint.
 * @param times which of the row's fields hold times: all of them, or it does not compile.
 * @param related SQL by the names of further fields, of the row `own`.
 */
export function shapeOf<Row>(
  table: string,
  fields: Record<string, string>,
  times: Record<TimeField<Row>, true>,
  related: Record<string, string> = {},
): Shape<Row> {
  const columns = Object.keys(fields).map((field) => `own."${columnOf(field)}" AS "${field}"`)
  const further = Object.entries(related).map(([field, sql]) => `${sql} AS "${field}"`)
  return {
    table: Prisma.raw(table),
    columns: Prisma.raw([...columns, ...further].join(', ')),
    times: Object.keys(times) as TimeField<Row>[],
  }
}

/** @throws Error for what is no field's name: it becomes SQL. */
function columnOf(field: string): string {
  if (!/^[a-z][A-Za-z0-9]*$/.test(field)) throw new Error(`No field has the name ${JSON.stringify(field)}`)
  return field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
}

/** SQL: inserts the row. @param row its fields, whose columns have the same names in snake case. @throws Error for what is no field's name. */
export function insertionOf(table: string, row: object): Prisma.Sql {
  const columns = Object.keys(row).map((field) => `"${columnOf(field)}"`)
  return Prisma.sql`INSERT INTO ${Prisma.raw(table)} (${Prisma.raw(columns.join(', '))}) VALUES (${Prisma.join(Object.values(row))})`
}

/** SQL: one statement that makes all the insertions. What refers to what is checked when it has made them. */
export function inOneStatement([last, ...others]: [Prisma.Sql, Prisma.Sql, ...Prisma.Sql[]]): Prisma.Sql {
  const beside = others.map((insertion, i) => Prisma.sql`${Prisma.raw(`beside_${i}`)} AS (${insertion})`)
  return Prisma.sql`WITH ${Prisma.join(beside)} ${last}`
}

/** SQL: what belongs to the row, as objects in the given order. @param object SQL: the members of each, by name. */
export const inGivenOrder = (tables: string, belongs: string, object: string): string =>
  `(SELECT coalesce(json_agg(json_build_object(${object}) ORDER BY position), '[]') FROM ${tables} WHERE ${belongs})`

/** SQL: the rows as one text. @param which `WHERE …`, with the order and the window if there are any. */
const rowsAsJson = ({ table, columns }: Pick<Shape<unknown>, 'table' | 'columns'>, which: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(SELECT json_agg(result) FROM (SELECT ${columns} FROM (SELECT * FROM ${table} ${which}) own) result)::text`

/** Reads rows. @param which SQL: `WHERE …`, with the order and the window if there are any. */
export async function readRows<Row>(db: Connection, shape: Shape<Row>, which: Prisma.Sql): Promise<Row[]> {
  const [found] = await queryRows<{ rows: string | null }>(db, Prisma.sql`SELECT ${rowsAsJson(shape, which)} AS rows`)
  return parseRows(shape, found!.rows)
}

/** Reads rows by their ids, in the order of these; ids of none are left out. */
export async function readRowsInOrder<Row extends { id: string }>(
  db: Connection,
  shape: Shape<Row>,
  which: Prisma.Sql,
  ids: string[],
): Promise<Row[]> {
  const rows = await readRows(db, shape, Prisma.sql`${which} AND id = ANY (${ids}::uuid[])`)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Reads rows, and by the same statement whatever else is asked. @param facts SQL: expressions, each AS something. */
export async function readRowsAnd<Row, Facts extends object>(
  db: Connection,
  shape: Shape<Row>,
  which: Prisma.Sql,
  facts: Prisma.Sql,
): Promise<Facts & { rows: Row[] }> {
  const statement = Prisma.sql`SELECT ${facts}, ${rowsAsJson(shape, which)} AS rows`
  const [found] = await queryRows<Facts & { rows: string | null }>(db, statement)
  return { ...found!, rows: parseRows(shape, found!.rows) }
}

/** Of no rows PostgreSQL makes NULL. */
function parseRows<Row>({ times }: Shape<Row>, text: string | null): Row[] {
  if (text === null) return []
  // biome-ignore lint/suspicious/noExplicitAny: the shape says what it is
  const rows: any[] = JSON.parse(text)
  for (const row of rows) for (const field of times) if (row[field] !== null) row[field] = new Date(row[field])
  return rows
}
