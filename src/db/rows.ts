import { Prisma } from '../generated/prisma/client.ts'
import { type Connection, queryRows } from './client.ts'
import { hasId } from './query.ts'

// Rows that are many, or asked for often. PostgreSQL makes JSON of them, which costs this process a third of what typed queries cost it, and
// a list and its length take one statement.

/** A time; or PostgreSQL's JSON of it, which is enough for who only shows it. */
export type Time = Date | string

/** The fields that hold times, which JSON has as text. */
type TimeField<Row> = { [Field in keyof Row & string]-?: Date extends Row[Field] ? Field : never }[keyof Row & string]

/** How rows of a table are read. */
export type Shape<Row> = {
  table: Prisma.Sql
  columns: Prisma.Sql
  /** The fields of which dates are made. */
  times: (keyof Row & string)[]
}
/** The same, of which some fields can be taken. */
export type WholeShape<Row> = Shape<Row> & { byField: Map<string, string> }
export type RowOf<S extends Shape<never>> = S extends Shape<infer Row> ? Row : never

/** Of a row what is shown. */
export type Shown<Row, Field extends keyof Row> = { [F in Field]: Date extends Row[F] ? Row[F] | string : Row[F] }

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
): WholeShape<Row> {
  const columns = Object.keys(fields).map((field): [string, string] => [field, `own."${columnOf(field)}"`])
  const byField = new Map([...columns, ...Object.entries(related)])
  return {
    table: Prisma.raw(table),
    columns: columnsOf(byField, [...byField.keys()]),
    times: Object.keys(times) as TimeField<Row>[],
    byField,
  }
}

/** How rows are read of which no more is wanted than to show these fields: half the work where they are a list. */
export const showing = <Row, Field extends keyof Row & string>(
  { table, byField }: WholeShape<Row>,
  fields: readonly Field[],
): Shape<Shown<Row, Field>> => ({ table, columns: columnsOf(byField, fields), times: [] })

const columnsOf = (byField: Map<string, string>, fields: readonly string[]): Prisma.Sql =>
  Prisma.raw(fields.map((field) => `${byField.get(field)} AS "${field}"`).join(', '))

/** @throws Error for what is no field's name: it becomes SQL. */
function columnOf(field: string): string {
  if (!/^[a-z][A-Za-z0-9]*$/.test(field)) throw new Error(`No field has the name ${JSON.stringify(field)}`)
  return field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
}

/** SQL: a column of what belongs to the row, in the given order. */
export const inGivenOrder = (column: string, tables: string, belongs: string): string =>
  `ARRAY(SELECT ${column} FROM ${tables} WHERE ${belongs} ORDER BY position)`

/** SQL: the rows as one text. @param which `WHERE …`, with the order and the window if there are any. */
const rowsAsJson = ({ table, columns }: Pick<Shape<unknown>, 'table' | 'columns'>, which: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(SELECT json_agg(result) FROM (SELECT ${columns} FROM (SELECT * FROM ${table} ${which}) own) result)::text`

/** Reads rows. @param which SQL: `WHERE …`, with the order and the window if there are any. */
export async function readRows<Row>(db: Connection, shape: Shape<Row>, which: Prisma.Sql): Promise<Row[]> {
  const [found] = await queryRows<{ rows: string | null }>(db, Prisma.sql`SELECT ${rowsAsJson(shape, which)} AS rows`)
  return parseRows(shape, found!.rows)
}

/** Rows that are to be read: SQL of their JSON, NULL where there are none, and what is made of it. */
export type Reading<Row> = { json: Prisma.Sql; parse: (json: string | null) => Row[] }

/** @param which as {@link readRows} takes it. */
export const toRead = <Row>(shape: Shape<Row>, which: Prisma.Sql): Reading<Row> => ({
  json: rowsAsJson(shape, which),
  parse: (json) => parseRows(shape, json),
})

/** Reads rows of several tables by one statement. */
export async function readTogether<Row>(db: Connection, readings: Reading<Row>[]): Promise<Row[][]> {
  const columns = readings.map(({ json }, i) => Prisma.sql`${json} AS ${Prisma.raw(`rows_${i}`)}`)
  const [found] = await queryRows<Record<string, string | null>>(db, Prisma.sql`SELECT ${Prisma.join(columns)}`)
  return readings.map(({ parse }, i) => parse(found![`rows_${i}`]!))
}

/** Reads rows by their ids, in the order of these; ids of none are left out. */
export async function readRowsInOrder<Row extends { id: string }>(
  db: Connection,
  shape: Shape<Row>,
  which: Prisma.Sql,
  ids: string[],
): Promise<Row[]> {
  const rows = await readRows(db, shape, Prisma.sql`${which} AND ${hasId(ids)}`)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/**
 * Reads rows, and by the same statement whatever else is asked.
 *
 * @param facts SQL: expressions, each AS something.
 * @param given SQL: `WITH …`, what `which` and `facts` go by.
 */
export async function readRowsAnd<Row, Facts extends object>(
  db: Connection,
  shape: Shape<Row>,
  which: Prisma.Sql,
  facts: Prisma.Sql,
  given: Prisma.Sql = Prisma.empty,
): Promise<Facts & { rows: Row[] }> {
  const statement = Prisma.sql`${given} SELECT ${facts}, ${rowsAsJson(shape, which)} AS rows`
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
