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

/**
 * Live and test data lie in the same tables. Keys, endpoints and connections have a mode, too, but it says what they are for; of the audit log
 * it says what was acted on.
 */
const MODED = {
  invites: true,
  submissions: true,
  events: true,
  inviteTags: true,
  tags: true,
  inviteBatches: true,
  bulkChanges: true,
  organizationInviteCounts: true,
  organizationDailyInviteCounts: true,
  assessmentInviteCounts: true,
  tagInviteCounts: true,
  questionResults: true,
  suppressions: true,
  erasedInvites: true,
  erasedInviteCounts: true,
  erasedResults: true,
} satisfies Record<Exclude<ModedTable, 'apiKeys' | 'webhookEndpoints' | 'atsConnections' | 'auditEntries'>, true>
/** Tables whose live rows test data uses: queries for test data read both modes, updates and deletes change test rows only. */
const LIVE_ROWS_IN_TEST: readonly string[] = ['tags'] satisfies (keyof typeof MODED)[]
type ModedTable = { [T in OwnTable]: Tables[T] extends { mode: unknown } ? T : never }[OwnTable]

/** Whose rows they are, and which of them: those of live data, of test data, or both. */
export type Sight = Owner & { mode: Mode }
export type Mode = 'live' | 'test' | 'all'
/** What a query of that table has to be told. */
export type OwnerOf<T extends OwnTable> = T extends keyof typeof MODED ? Sight : Owner

/** Rows of a table, and what is selected of each. */
export type Rows<T extends keyof Tables, Row = object> = SelectQueryBuilder<Tables, T, Row>
type RowsAs<T extends keyof Tables, Alias extends string, Row = object> = SelectQueryBuilder<
  Tables & Record<Alias, Tables[T]>,
  Alias,
  Row
>
/** What a view shows of the rows of a table to who sees so much. */
export type Selects<T extends keyof Tables, Row> = (rows: Rows<T>, sight: Sight) => Rows<T, Row>

/** An UPDATE of a table. */
export type Updates<T extends keyof Tables> = UpdateQueryBuilder<Tables, T, T, UpdateResult>

/**
 * The organization's rows of a table, those of the mode that is seen: every query of them begins so.
 *
 * @param alias another name for them within the statement.
 */
export function own<T extends OwnTable>(owner: OwnerOf<T>, table: T): Rows<T>
export function own<T extends OwnTable, Alias extends string>(owner: OwnerOf<T>, table: T, alias: Alias): RowsAs<T, Alias>
export function own(owner: Owner, table: OwnTable, alias: string = table): unknown {
  const from = alias === table ? table : `${table} as ${alias}`
  return builder.selectFrom(from as 'invites').where(isReadable(owner, table, alias))
}

/** An UPDATE of the organization's rows. */
export const ownUpdate = <T extends OwnTable>(owner: OwnerOf<T>, table: T): Updates<T> =>
  builder.updateTable(table as 'invites').where(isOwn(owner, table, table)) as never

/** A DELETE of the organization's rows. */
export const ownDelete = <T extends OwnTable>(owner: OwnerOf<T>, table: T): DeleteQueryBuilder<Tables, T, DeleteResult> =>
  builder.deleteFrom(table as 'invites').where(isOwn(owner, table, table)) as never

/** The mode is literal: a plan that is kept is made for it. */
function isOwn(owner: Owner & { mode?: Mode }, table: OwnTable, alias: string): Condition {
  const isInbound = sql<SqlBool>`${sql.ref(`${alias}.organizationId`)} = ${owner.organization.id}`
  if (!(table in MODED) || owner.mode === 'all') return isInbound
  return sql`${isInbound} and ${sql.ref(`${alias}.mode`)} = ${sql.lit(owner.mode)}`
}

function isReadable(owner: Owner & { mode?: Mode }, table: OwnTable, alias: string): Condition {
  const readsBoth = owner.mode === 'test' && LIVE_ROWS_IN_TEST.includes(table)
  return isOwn(readsBoth ? { ...owner, mode: 'all' } : owner, table, alias)
}

/** A condition of Prisma's on rows of a table that has modes, as {@link own} has it: `where: { ...seen(ctx), id }`. */
export const seen = ({ organization, mode }: Sight): { organizationId: string; mode?: 'live' | 'test' } => ({
  organizationId: organization.id,
  ...(mode !== 'all' && { mode }),
})

/** The row of the organization itself. */
export const ownOrganization = (owner: Owner): Rows<'organizations'> =>
  builder.selectFrom('organizations').where('organizations.id', '=', owner.organization.id)

/** The tables whose rows are no organization's. */
type Shared = 'languages' | 'mailOutages'
/** The rows of what organizations share: the languages that there are, and how the mail server is. */
export const shared = <T extends Shared>(table: T): Rows<T> => builder.selectFrom(table as Shared) as never

/** An INSERT: its rows say whose they are, by their types. */
export const into = <T extends keyof Tables>(table: T) => builder.insertInto(table)

/** For what begins WITH something, or has no table: `compose.with('mine', () => own(…))`. */
export const compose = builder as unknown as Kysely<Record<never, never>>

/** Condition of a join, or a sub-select, to another table: the rows are of the same organization. */
export const sameOwner = (table: OwnTable | (string & {}), other: OwnTable | (string & {})): RawBuilder<SqlBool> =>
  sql`${sql.ref(`${table}.organizationId`)} = ${sql.ref(`${other}.organizationId`)}`

/** Whose organization is not on hold: what is left for it to do waits. */
export const isNotSuspended = (table: string): RawBuilder<SqlBool> =>
  sql`not exists (select from ${sql.table('organizationSuspensions')} where ${sameOwner('organizationSuspensions', table)})`

/** Deletes some of the organization's rows of a table, of whatever key, so many at most. */
export const ownDeleteSome = <T extends OwnTable>(
  owner: Owner,
  table: T,
  atMost: number,
): DeleteQueryBuilder<Tables, T, DeleteResult> => {
  const place = sql.ref(`${table}.ctid`)
  const some = builder
    .selectFrom(table as 'invites')
    .where(isOwn(owner, table, table))
    .select(place.as('place'))
    .limit(atMost)
  return builder.deleteFrom(table as 'invites').where(sql<SqlBool>`${place} = any(array(${some}))`) as never
}

/** `where('id', '=', among(ids))`: any of these UUIDs, however many, in one value. */
export const among = (ids: readonly string[]): RawBuilder<string> => sql`any(${ids}::uuid[])`

/** What a view shows of rows that are chosen, ordered and cut before it is looked up. */
export const ofThese = <T extends keyof Tables, Row>(
  sight: Sight,
  rows: Rows<T>,
  table: T,
  show: Selects<T, Row>,
): Rows<T, Row> => show(builder.selectFrom(rows.selectAll().as(table)) as unknown as Rows<T>, sight)

/** A hot statement of an organization's rows, as {@link prepare} makes it: one for each mode. */
export function prepareOwn<Given extends object, Further extends (string | number | boolean | undefined)[], Row>(
  make: (owner: Sight, given: Given, ...further: Further) => Query<Row>,
): (owner: Sight, given: Given, ...further: Further) => Query<Row> {
  const prepared = prepare((given: Given & { organizationId: string }, mode: Mode, ...further: Further) =>
    make({ organization: { id: given.organizationId }, mode }, given, ...further),
  )
  return ({ organization, mode }, given, ...further) => prepared({ ...given, organizationId: organization.id }, mode, ...further)
}
