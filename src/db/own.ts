import type {
  AliasedExpression,
  DeleteQueryBuilder,
  DeleteResult,
  Expression,
  ExpressionBuilder,
  Kysely,
  NotNull,
  RawBuilder,
  Selectable,
  SelectQueryBuilder,
  SqlBool,
  UpdateQueryBuilder,
  UpdateResult,
} from 'kysely'
import { builder, sql, type Tables } from './builder.ts'
import { prepare, type Query } from './statements.ts'

export type { AliasedExpression, Expression, NotNull, RawBuilder, Selectable, SqlBool, Tables }

/** What makes expressions over the rows of a table. */
export type Expressions<T extends keyof Tables> = ExpressionBuilder<Tables, T>
/** An expression that is true or not. */
export type Condition = Expression<SqlBool>

/** Whose rows they are. */
export type Owner = { organization: { id: string } }
/** The tables whose rows belong to an organization. */
export type OwnTable = { [T in keyof Tables]: Tables[T] extends { organizationId: unknown } ? T : never }[keyof Tables]

/** Rows of a table, and what is selected of each. */
export type Rows<T extends keyof Tables, Row = object> = SelectQueryBuilder<Tables, T, Row>
type RowsAs<T extends keyof Tables, Alias extends string, Row = object> = SelectQueryBuilder<
  Tables & Record<Alias, Tables[T]>,
  Alias,
  Row
>
/** What a view shows of the rows of a table. */
export type Selects<T extends keyof Tables, Row> = (rows: Rows<T>) => Rows<T, Row>

/** An UPDATE of a table. */
export type Updates<T extends keyof Tables> = UpdateQueryBuilder<Tables, T, T, UpdateResult>

/** The organization's rows of a table: every query of them begins so. @param alias another name for them within the statement. */
export function own<T extends OwnTable>(owner: Owner, table: T): Rows<T>
export function own<T extends OwnTable, Alias extends string>(owner: Owner, table: T, alias: Alias): RowsAs<T, Alias>
export function own(owner: Owner, table: OwnTable, alias?: string): unknown {
  const from = alias === undefined ? table : `${table} as ${alias}`
  return builder.selectFrom(from as 'invites').where(ownerColumn(alias ?? table), '=', owner.organization.id)
}

/** An UPDATE of the organization's rows. */
export const ownUpdate = <T extends OwnTable>(owner: Owner, table: T): Updates<T> =>
  builder.updateTable(table as 'invites').where(ownerColumn(table), '=', owner.organization.id) as never

/** A DELETE of the organization's rows. */
export const ownDelete = <T extends OwnTable>(owner: Owner, table: T): DeleteQueryBuilder<Tables, T, DeleteResult> =>
  builder.deleteFrom(table as 'invites').where(ownerColumn(table), '=', owner.organization.id) as never

/** The row of the organization itself. */
export const ownOrganization = (owner: Owner): Rows<'organizations'> =>
  builder.selectFrom('organizations').where('organizations.id', '=', owner.organization.id)

/** The tables whose rows are no organization's. */
type Shared = 'languages' | 'mailOutages'
/** The rows of what organizations share: the languages that there are, and how the mail server is. */
export const shared = <T extends Shared>(table: T): Rows<T> => builder.selectFrom(table as Shared) as never

/** Any of them is like that of the invites. */
const ownerColumn = (table: string) => `${table}.organizationId` as 'invites.organizationId'

/** An INSERT: its rows say whose they are, by their types. */
export const into = <T extends keyof Tables>(table: T) => builder.insertInto(table)

/** For what begins WITH something, or has no table: `compose.with('mine', () => own(…))`. */
export const compose = builder as unknown as Kysely<Record<never, never>>

/** Condition of a join, or a sub-select, to another table: the rows are of the same organization. */
export const sameOwner = (table: OwnTable | (string & {}), other: OwnTable | (string & {})): RawBuilder<SqlBool> =>
  sql`${sql.ref(`${table}.organizationId`)} = ${sql.ref(`${other}.organizationId`)}`

/** `where('id', '=', among(ids))`: any of these UUIDs, however many, in one value. */
export const among = (ids: readonly string[]): RawBuilder<string> => sql`any(${ids}::uuid[])`

/** What a view shows of rows that are chosen, ordered and cut before it is looked up. */
export const ofThese = <T extends keyof Tables, Row>(rows: Rows<T>, table: T, show: Selects<T, Row>): Rows<T, Row> =>
  show(builder.selectFrom(rows.selectAll().as(table)) as unknown as Rows<T>)

/** A hot statement of an organization's rows, as {@link prepare} makes it. */
export function prepareOwn<Given extends object, Further extends (string | number | boolean | undefined)[], Row>(
  make: (owner: Owner, given: Given, ...further: Further) => Query<Row>,
): (owner: Owner, given: Given, ...further: Further) => Query<Row> {
  const prepared = prepare((given: Given & { organizationId: string }, ...further: Further) =>
    make({ organization: { id: given.organizationId } }, given, ...further),
  )
  return ({ organization }, given, ...further) => prepared({ ...given, organizationId: organization.id }, ...further)
}
