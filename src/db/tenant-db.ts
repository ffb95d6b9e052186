/*
 * The database of one organization. `tenantDb(db, scope)` is Kysely (and, for single rows, Prisma Client) whose statements are limited to
 * the scope: the organization and, for tables that have live and test rows, the mode.
 *
 * - `selectFrom`, `updateTable`, `deleteFrom` add the condition, `insertInto` the columns. They return Kysely's own builders.
 * - A statement knows only its own table by name, by Kysely's schema type: `innerJoin('assessments', …)` does not compile.
 *   `innerJoin(db.table('assessments'), …)` does: a scoped sub-select, which PostgreSQL flattens. So do sub-selects: `eb.selectFrom(db.table(…))`.
 * - `with` and `selectNoFrom` begin statements that consist of scoped queries.
 * - The query compiler throws where a tenant table has lost its condition, see executor.ts.
 * - Prisma Client adds nothing: it throws where a call does not name the scope, see scoped-models.ts.
 * - Queries over all organizations: unscoped.ts, for listed files only.
 */
import {
  type AliasedExpression,
  AliasNode,
  type ColumnType,
  type DeleteQueryBuilder,
  type DeleteResult,
  type InsertObject,
  type InsertQueryBuilder,
  type InsertResult,
  type Kysely,
  type OperationNode,
  type SelectQueryBuilder,
  type SelectType,
  type SqlBool,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely'
import { sql, type Tables } from './builder.ts'
import { type Connection, connect, sessionOf } from './client.ts'
import { markScoped, scopedKysely } from './executor.ts'
import { scopedModels } from './scoped-models.ts'
import { LIVE_ROWS_IN_TEST, type Mode, type ModeTable, type Scope, TENANT_TABLES, type TenantTable } from './tenant-tables.ts'

export type { Mode, Scope }

/** Tables without rows of other organizations: of `organizations` the scope's own row, and what all organizations share. */
type SharedTable = 'organizations' | 'languages' | 'mailOutages'
type Readable = TenantTable | SharedTable
/** A table, or `table as alias`. */
type TableName<T extends string> = T | `${T} as ${string}`
type TableOf<Name> = (Name extends `${infer T} as ${string}` ? T : Name) & keyof Tables
type AliasOf<Name> = Name extends `${string} as ${infer Alias}` ? Alias : Name & string
/** The schema of a statement: its only table. */
type Only<Name> = Name extends keyof Tables ? Pick<Tables, Name> : { [A in AliasOf<Name>]: Tables[TableOf<Name>] }
/** Columns of accounts that an organization may see. An account may belong to several organizations. */
const VISIBLE_COLUMNS = {
  users: ['id', 'firstName', 'lastName', 'email', 'avatarUrl', 'firstNameKey', 'lastNameKey', 'searchKey'],
  secondFactors: ['id', 'credentialId', 'kind'],
} as const
type AccountTable = keyof typeof VISIBLE_COLUMNS
type VisibleRow<T extends keyof Tables> = T extends AccountTable
  ? Pick<Tables[T], (typeof VISIBLE_COLUMNS)[T][number] & keyof Tables[T]>
  : Tables[T]

/** Columns that the scope fills. */
type ScopeColumn<T> = 'organizationId' | (T extends ModeTable ? 'mode' : never)
type Writable<T extends TenantTable> = {
  [W in T]: {
    [C in keyof Tables[T]]: C extends ScopeColumn<T> ? ColumnType<SelectType<Tables[T][C]>, undefined, undefined> : Tables[T][C]
  }
}
type NewRow<T extends TenantTable> = InsertObject<Writable<T>, T>

type Begin = Kysely<Record<never, never>>
type ScopedQueries = {
  selectFrom: (<Name extends TableName<Readable>>(
    table: Name,
  ) => SelectQueryBuilder<Only<Name>, AliasOf<Name> & keyof Only<Name>, object>) &
    Begin['selectFrom']
  updateTable: <T extends TenantTable>(table: T) => UpdateQueryBuilder<Writable<T>, T, T, UpdateResult>
  deleteFrom: <T extends TenantTable>(table: T) => DeleteQueryBuilder<Pick<Tables, T>, T, DeleteResult>
  insertInto: <T extends TenantTable>(
    table: T,
  ) => { values: (rows: NewRow<T> | readonly NewRow<T>[]) => InsertQueryBuilder<Writable<T>, T, InsertResult> }
  /** A table's rows within the scope, for joins and sub-selects. */
  table: <Name extends TableName<Readable | AccountTable>>(
    table: Name,
  ) => AliasedExpression<VisibleRow<TableOf<Name>>, AliasOf<Name>>
  with: Begin['with']
  selectNoFrom: Begin['selectNoFrom']
}
export type TenantDb = Connection & ScopedQueries

const scopes = new WeakMap<Connection, { base: Connection; scope: Scope }>()

/** The database within the scope. */
export function tenantDb(db: Connection, scope: Scope): TenantDb {
  const base = unscopedConnection(db)
  const queries = Object.getOwnPropertyDescriptors(scopedQueries(base, scope))
  const tenant = connect(Object.create(scopedModels(base, scope), queries) as TenantDb, sessionOf(base))
  scopes.set(tenant, { base, scope })
  return tenant
}

/** The connection without its scope. */
export const unscopedConnection = (db: Connection): Connection => scopes.get(db)?.base ?? db

/** Applies the scope of the other connection, if it has one. */
export function scopeLike<C extends Connection>(other: C, connection: Connection): C {
  const scope = scopes.get(other)?.scope
  return (scope ? tenantDb(connection, scope) : connection) as C
}

/** @throws Error for a database without a scope. */
export function scopeOf(db: TenantDb): Scope {
  const found = scopes.get(db)
  if (!found) throw new Error('The database has no scope')
  return found.scope
}

function scopedQueries(db: Connection, scope: Scope): ScopedQueries {
  const kysely = scopedKysely(sessionOf(db))
  const selectFrom = (from: unknown) => {
    if (typeof from !== 'string') return kysely.selectFrom(from as never)
    const { table, alias } = readName(from)
    const query = kysely.selectFrom(from as 'invites')
    if (table === 'organizations') return query.where(sql.ref(`${alias}.id`), '=', scope.organization.id)
    if (!isTenantTable(table)) return query
    const condition = isReadable(scope, table, alias)
    markScoped(tableIn(query.toOperationNode().from!.froms[0]!), condition.toOperationNode())
    return query.where(condition)
  }
  const queries = {
    selectFrom,
    table: (name: string) => {
      const { table, alias } = readName(name)
      if (!(table in VISIBLE_COLUMNS)) return selectFrom(name).selectAll().as(alias)
      const account = table as 'users'
      return kysely.selectFrom(account).select(VISIBLE_COLUMNS[account]).as(alias)
    },
    updateTable: (table: TenantTable) => {
      const query = kysely.updateTable(table as 'invites')
      const condition = isInScope(scope, table, table)
      markScoped(query.toOperationNode().table!, condition.toOperationNode())
      return query.where(condition)
    },
    deleteFrom: (table: TenantTable) => {
      const query = kysely.deleteFrom(table as 'invites')
      const condition = isInScope(scope, table, table)
      markScoped(query.toOperationNode().from.froms[0]!, condition.toOperationNode())
      return query.where(condition)
    },
    insertInto: (table: TenantTable) => {
      const query = kysely.insertInto(table as 'invites')
      markScoped(query.toOperationNode().into!, null)
      const complete = (row: object) => ({ ...row, ...scopeColumns(scope, table) })
      return {
        values: (rows: object | object[]) => query.values((Array.isArray(rows) ? rows.map(complete) : complete(rows)) as never),
      }
    },
    with: kysely.with.bind(kysely),
    selectNoFrom: kysely.selectNoFrom.bind(kysely),
  }
  return queries as unknown as ScopedQueries
}

const isTenantTable = (table: string): table is TenantTable => table in TENANT_TABLES

const tableIn = (node: OperationNode): OperationNode => (AliasNode.is(node) ? node.node : node)

function readName(name: string): { table: string; alias: string } {
  const [table, alias] = name.split(' as ')
  return { table: table!, alias: alias ?? table! }
}

/** The mode is literal: PostgreSQL keeps a plan for each. */
function isInScope({ organization, mode }: Scope, table: TenantTable, alias: string) {
  const isOfOrganization = sql<SqlBool>`${sql.ref(`${alias}.organizationId`)} = ${organization.id}`
  if (TENANT_TABLES[table] === 'organization' || mode === 'all') return isOfOrganization
  return sql<SqlBool>`${isOfOrganization} and ${sql.ref(`${alias}.mode`)} = ${sql.lit(mode)}`
}

function isReadable(scope: Scope, table: TenantTable, alias: string) {
  const readsBoth = scope.mode === 'test' && LIVE_ROWS_IN_TEST.has(table)
  return isInScope(readsBoth ? { ...scope, mode: 'all' } : scope, table, alias)
}

function scopeColumns({ organization, mode }: Scope, table: TenantTable): object {
  if (TENANT_TABLES[table] === 'organization') return { organizationId: organization.id }
  if (mode === 'all') throw new Error(`A row of ${table} is live or test data: its mode must be one of them`)
  return { organizationId: organization.id, mode }
}
