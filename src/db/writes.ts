import {
  type AnyColumn,
  type Expression,
  type ExpressionBuilder,
  type ExtractColumnType,
  expressionBuilder,
  type Insertable,
  InsertQueryBuilder,
  type InsertResult,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type SelectType,
} from 'kysely'
import { builder, snakeOf, sql, statement, type Tables } from './builder.ts'
import { type Connection, sessionOf } from './client.ts'
import { markScoped, unscopedKysely } from './executor.ts'
import { type Executable, prepare, type Query } from './statements.ts'

/** A column of a copy that gets its default. */
export const DEFAULT = Symbol('default')

/** Value of each column. A forgotten column doesn't compile. */
type Filling<T extends keyof Tables> = {
  [Column in keyof Tables[T]]: Expression<SelectType<Tables[T][Column]>> | typeof DEFAULT
}

/**
 * Inserts a row for each row of a query, which may begin with WITH. The rows decide the organization.
 *
 * @param fill value of each column.
 */
export function insertFromSelect<T extends keyof Tables, DB, From extends keyof DB>(
  db: Connection,
  table: T,
  rows: SelectQueryBuilder<DB, From, object>,
  fill: (eb: ExpressionBuilder<DB, From>) => Filling<T>,
): InsertQueryBuilder<Tables, T, InsertResult> {
  const filled = Object.entries<Expression<unknown> | typeof DEFAULT>(fill(expressionBuilder<DB, From>()))
  const filledColumns = filled.filter((entry): entry is [string, Expression<unknown>] => entry[1] !== DEFAULT)
  const values = rows.select(filledColumns.map(([column, value]) => sql`${value}`.as(column)))
  const { with: ctes, ...source } = values.toOperationNode()
  const kysely = unscopedKysely(sessionOf(db))
  const insertion = kysely
    .insertInto(table)
    .columns(filledColumns.map(([column]) => column) as never)
    .expression(values as never)
  markScoped(insertion.toOperationNode().into!, null)
  if (!ctes) return insertion as never
  // PostgreSQL allows data-modifying CTEs at the top level only.
  const queryNode = { ...insertion.toOperationNode(), with: ctes, values: source }
  return new InsertQueryBuilder({ queryId: { queryId: table }, queryNode, executor: kysely.getExecutor() }) as never
}

/** Columns that are copied as they are. */
export const copyColumns = <DB, From extends keyof DB, Column extends AnyColumn<DB, From> & string>(
  eb: ExpressionBuilder<DB, From>,
  ...columns: Column[]
): { [C in Column]: Expression<SelectType<ExtractColumnType<DB, From, C>>> } =>
  Object.fromEntries(columns.map((column) => [column, eb.ref(column as never)])) as never

/** A value of a copy: PostgreSQL can't infer its type in a SELECT. */
export const uuid = (id: string): RawBuilder<string> => sql`${id}::uuid`
/** As {@link uuid}. */
export const timestamp = (at: Date): RawBuilder<Date> => sql`${at}::timestamptz`

/** New rows by table. All rows of a table have the same columns. */
export type NewRows = { [T in keyof Tables]?: readonly Insertable<Tables[T]>[] | undefined }

const insertions = new Map<string, (db: Connection, jsonByTable: Record<string, string>) => Executable<unknown>>()

/**
 * Inserts rows of one or several tables by one statement, which is compiled once for each set of columns. Each table's rows are one
 * parameter. Foreign keys are checked after all rows are inserted.
 *
 * @param rows of at least one table.
 */
export function insertRows(db: Connection, rows: NewRows): Executable<unknown> {
  const tables = (Object.keys(rows) as (keyof Tables)[]).filter((table) => rows[table]?.length)
  const columns = tables.map((table) => Object.keys(rows[table]![0]!))
  const key = tables.map((table, i) => `${table} ${columns[i]!.join()}`).join(';')
  const insert = insertions.get(key) ?? prepare((jsonByTable) => insertionOf(tables, columns, jsonByTable))
  insertions.set(key, insert)
  return insert(db, Object.fromEntries(tables.map((table) => [table, jsonOfRows(rows[table]!)])))
}

function insertionOf(tables: (keyof Tables)[], columns: string[][], jsonByTable: Record<string, string>): Query<unknown> {
  const [last, ...earlier] = tables.map((table, i) => {
    const rows = recordset(table, jsonByTable[table]!).as('given')
    const values = builder.selectFrom(rows as never).select(columns[i] as never)
    return builder
      .insertInto(table)
      .columns(columns[i] as never)
      .expression(values as never)
  })
  if (earlier.length === 0) return last!
  const parts = earlier.map((insertion, i) => sql`${sql.ref(`beside_${i}`)} as (${insertion})`)
  return statement(sql`with ${sql.join(parts)} ${last}`)
}

/** The given rows of a table as one parameter. Columns without a value are null. */
export const givenRows = <T extends keyof Tables>(table: T, rows: readonly object[]): RawBuilder<Selectable<Tables[T]>> =>
  recordset(table, jsonOfRows(rows))

const recordset = <T extends keyof Tables>(table: T, json: string): RawBuilder<Selectable<Tables[T]>> =>
  sql`jsonb_populate_recordset(null::${sql.id(table)}, ${json}::jsonb)`

const jsonOfRows = (rows: readonly object[]): string =>
  JSON.stringify(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([field, value]) => [snakeOf(field), asJsonHas(value)]))),
  )

/** Values that JSON lacks, as PostgreSQL parses them. */
function asJsonHas(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return typeof value === 'bigint' ? String(value) : value
}
