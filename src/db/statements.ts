import {
  type Compilable,
  type CompiledQuery,
  DeleteResult,
  type Expression,
  InsertResult,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  UpdateResult,
} from 'kysely'
import { jsonBuildObject } from 'kysely/helpers/postgres'
import { validate as isUuid } from 'uuid'
import { speak, statement, type Tables } from './builder.ts'
import { type Connection, type Statement, sessionOf } from './client.ts'

export { jsonBuildObject }

/** A statement that answers with rows. */
export type Query<Row> = Compilable<Row>
/** A compiled statement, which is executed like Kysely's builders. */
export type Executable<Row> = Query<Row> & {
  execute: () => Promise<Row[]>
  executeTakeFirst: () => Promise<Row | undefined>
  /** @throws Error if there is no row. */
  executeTakeFirstOrThrow: () => Promise<Row>
}
/** Row as PostgreSQL's JSON has it: times are text. Cast bigints and decimals, which would lose precision as numbers. */
export type AsJson<Row> = { [Field in keyof Row]: Date extends Row[Field] ? Exclude<Row[Field], Date> | string : Row[Field] }

/** A statement that is written by hand, compiled before, or written by another library. */
export function rawStatement<Row>(db: Connection, source: RawBuilder<Row> | Statement): Executable<Row> {
  const query = 'text' in source ? fromStatement<Row>(source) : statement(source)
  const execute = async () => (await sessionOf(db).query<Row & object>(compile(query))).rows
  return {
    ...query,
    execute,
    executeTakeFirst: async () => (await execute())[0],
    async executeTakeFirstOrThrow() {
      const [row] = await execute()
      if (row === undefined) throw new Error('The statement has no row')
      return row
    },
  }
}

/**
 * Executes statements that are known beforehand, all or none of them: outside a transaction in one packet with its BEGIN and COMMIT.
 *
 * @returns the rows of the last.
 */
export const executeAll = <Row>(db: Connection, queries: [...Query<unknown>[], Query<Row>]): Promise<Row[]> =>
  sessionOf(db).queryAll<Row & object>(queries.map(compile))

/**
 * Executes a query with a generic plan (`plan_cache_mode`). Use it for queries whose many conditions take longer to plan than to execute: by
 * default PostgreSQL plans them again for every request.
 */
export const executeByGenericPlan = <Row>(db: Connection, query: Query<Row>): Promise<Row[]> =>
  executeAll(db, [statement(sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`), query])

/** An expression: the rows of a query as a list in JSON. No column has the name of the alias: PostgreSQL would take the column for the row. */
export const jsonOf = <Row>(query: SelectQueryBuilder<Tables, never, Row>): RawBuilder<AsJson<Row>[]> =>
  sql`(select coalesce(json_agg(selected_row), '[]') from (${speak(query)}) as selected_row)`

/** SQL expression: the single row of a query as a JSON object; null without a row. */
export const jsonRowOf = <Row>(query: SelectQueryBuilder<Tables, never, Row>): RawBuilder<AsJson<Row>> =>
  sql`(select to_json(selected_row) from (${speak(query)}) as selected_row)`

/** An expression: the values of a query's one column, in its order. */
export const listOf = <Value>(query: Expression<Record<string, Value>>): RawBuilder<Value[]> => sql`array(${query})`

/** The rows of a query, made JSON by PostgreSQL: for many rows a third of the work. */
export async function allAsJson<Row>(db: Connection, query: SelectQueryBuilder<Tables, never, Row>): Promise<AsJson<Row>[]> {
  const statement = sql<{ rows: AsJson<Row>[] }>`select ${jsonOf(query)} as rows`
  return (await rawStatement(db, statement).executeTakeFirstOrThrow()).rows
}

const fromStatement = <Row>({ text, values }: Statement): Query<Row> => ({
  compile: () => ({ sql: text, parameters: values }) as unknown as CompiledQuery<Row>,
})

export const compile = (query: Query<unknown>): Statement => {
  const { sql: text, parameters } = query.compile()
  return { text, values: parameters as unknown[] }
}

/** Prepared statements of one kind. Beyond this the oldest are dropped. */
const MOST_PREPARED = 200

/** Placeholder for a value of a prepared statement. */
class Placeholder {
  readonly field: string
  constructor(field: string) {
    this.field = field
    Object.freeze(this)
  }
  [Symbol.toPrimitive](): never {
    throw new Error(`A prepared statement is made once for all values: what it is like can't depend on ${this.field}`)
  }
  toJSON(): never {
    return this[Symbol.toPrimitive]()
  }
}

/**
 * A prepared statement. It is compiled once for each set of defined parameters and for each further argument.
 *
 * @param make gets placeholders, and may use them only as values of the statement.
 */
export function prepare<Params extends object, Further extends (string | number | boolean | undefined)[], Row>(
  make: (params: Params, ...further: Further) => Query<Row>,
): (db: Connection, params: Params, ...further: Further) => Executable<Row> {
  const statements = new Map<string, Statement>()
  return (db, params, ...further) => {
    const fields = Object.keys(params).filter((field) => params[field as keyof Params] !== undefined)
    const key = `${fields.join()} ${further.join()}`
    const prepared = statements.get(key) ?? requireForAll(compile(make(placeholdersOf(fields) as Params, ...further)))
    if (statements.size >= MOST_PREPARED && !statements.has(key)) statements.delete(statements.keys().next().value!)
    statements.set(key, prepared)
    const parameters = prepared.values.map((value) =>
      value instanceof Placeholder ? params[value.field as keyof Params] : value,
    )
    return rawStatement<Row>(db, { text: prepared.text, values: parameters })
  }
}

/** @throws Error for an id or a time that only the first caller has: it would be sent for all others, too. */
function requireForAll(statement: Statement): Statement {
  if (statement.values.some(isOfOneCaller)) throw new Error('A prepared statement has a value of its first caller')
  return statement
}
const isOfOneCaller = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isOfOneCaller) : value instanceof Date || isUuid(value)

const placeholdersOf = (fields: string[]) => Object.fromEntries(fields.map((field) => [field, new Placeholder(field)]))

/** Executes a query of Kysely's. @returns how many rows it has written, or answers with. */
export async function affectedRows(query: { execute: () => Promise<object[]> }): Promise<number> {
  const results = await query.execute()
  const [result] = results
  if (result instanceof UpdateResult) return Number(result.numUpdatedRows)
  if (result instanceof DeleteResult) return Number(result.numDeletedRows)
  if (result instanceof InsertResult) return Number(result.numInsertedOrUpdatedRows)
  return results.length
}
