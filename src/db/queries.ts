import {
  type AliasedExpression,
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type NotNull,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely'
import { sql, type Tables } from './builder.ts'
import { type Connection, connect, type Session } from './client.ts'
import { type Executable, prepare, type Query } from './statements.ts'
import { type Mode, type Scope, scopeOf, type TenantDb, tenantDb } from './tenant-db.ts'
import type { TenantTable } from './tenant-tables.ts'

export type {
  AliasedExpression,
  Expression,
  Mode,
  NotNull,
  RawBuilder,
  Scope,
  Selectable,
  SelectQueryBuilder,
  SqlBool,
  Tables,
  TenantDb,
  TenantTable,
}

/** Expression builder of a table. */
export type Expressions<T extends keyof Tables> = ExpressionBuilder<Pick<Tables, T>, T>
export const expressionsOf = <T extends keyof Tables>(): Expressions<T> => expressionBuilder<Pick<Tables, T>, T>()
/** An expression that is true or not. */
export type Condition = Expression<SqlBool>
/** Rows of a table, with the selected columns. */
export type Rows<T extends keyof Tables, Row = object> = SelectQueryBuilder<Pick<Tables, T>, T, Row>
/** Selects what a view shows of the rows of a table. */
export type Selects<T extends keyof Tables, Row> = (rows: Rows<T>, db: TenantDb) => Rows<T, Row>
/** An UPDATE of a table. */
export type Updates<T extends keyof Tables> = UpdateQueryBuilder<Pick<Tables, T>, T, T, UpdateResult>

/** A condition of Prisma's on rows of a table that has modes: `where: { ...scopeWhere(ctx), id }`. */
export const scopeWhere = ({ organization, mode }: Scope): { organizationId: string; mode?: 'live' | 'test' } => ({
  organizationId: organization.id,
  ...(mode !== 'all' && { mode }),
})

/** Condition of a join of two tables in queries over all organizations: the rows are of the same one. */
export const sameOrganization = (table: TenantTable | (string & {}), other: TenantTable | (string & {})): RawBuilder<SqlBool> =>
  sql`${sql.ref(`${table}.organizationId`)} = ${sql.ref(`${other}.organizationId`)}`

/** Rows whose organization is not suspended, in queries over all organizations. */
export const isNotSuspended = (table: string): RawBuilder<SqlBool> =>
  sql`not exists (select from ${sql.table('organizationSuspensions')} where ${sameOrganization('organizationSuspensions', table)})`

/** Deletes at most `atMost` rows of a table within the scope, whatever the table's key is. */
export const deleteSome = <T extends TenantTable>(db: TenantDb, table: T, atMost: number) => {
  const place = sql.ref(`${table}.ctid`)
  const batch = db
    .selectFrom(table as 'invites')
    .select(place.as('place'))
    .limit(atMost)
  return db.deleteFrom(table as 'invites').where(sql<SqlBool>`${place} = any(array(${batch}))`)
}

/** `where('id', '=', anyOfIds(ids))`: any of these UUIDs, however many, in one value. */
export const anyOfIds = (ids: readonly string[]): RawBuilder<string> => sql`any(${ids}::uuid[])`

/** Selects the view's columns of rows that are already filtered, ordered, and limited. */
export const project = <T extends keyof Tables, Row>(
  db: TenantDb,
  rows: Rows<T>,
  table: T,
  show: Selects<T, Row>,
): Rows<T, Row> => show(db.selectFrom(rows.selectAll().as(table)) as unknown as Rows<T>, db)

const refuse = () => Promise.reject(new Error('A prepared query is sent by statements.ts'))
const compileOnly: Session = {
  prisma: {} as Connection,
  query: refuse,
  queryAll: refuse,
  transaction: refuse,
  withSignal: () => compileOnly,
}

/** A hot query within a scope, as {@link prepare} makes it: one for each mode. */
export function prepareScoped<Params extends object, Further extends (string | number | boolean | undefined)[], Row>(
  make: (db: TenantDb, params: Params, ...further: Further) => Query<Row>,
): (db: TenantDb, params: Params, ...further: Further) => Executable<Row> {
  const prepared = prepare((params: Params & { organizationId: string }, mode: Mode, ...further: Further) => {
    const db = tenantDb(connect(compileOnly.prisma, compileOnly), { organization: { id: params.organizationId }, mode })
    return make(db, params, ...further)
  })
  return (db, params, ...further) => {
    const { organization, mode } = scopeOf(db)
    return prepared(db, { ...params, organizationId: organization.id }, mode, ...further)
  }
}
