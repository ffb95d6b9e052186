import {
  AliasNode,
  AndNode,
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  DummyDriver,
  IdentifierNode,
  Kysely,
  type OperationNode,
  PostgresAdapter,
  PostgresIntrospector,
  ReferenceNode,
  SelectModifierNode,
  SelectQueryNode,
  TableNode,
} from 'kysely'
import { NamesCompiler, type Tables } from './builder.ts'
import type { Session } from './session.ts'
import { TENANT_TABLES } from './tenant-tables.ts'

/** Table nodes, and the condition that their statement must have; null for an INSERT. */
const scopedTables = new WeakMap<OperationNode, OperationNode | null>()
/** Records that a table is scoped as long as its statement has the condition. */
export const markScoped = (table: OperationNode, condition: OperationNode | null): void => void scopedTables.set(table, condition)

/**
 * Refuses to compile a tenant table without the condition of its scope. Types refuse most of that before; not a sub-select of the
 * statement's own table by name, `clearWhere`, `sql.table`, or a query that another Kysely has begun. It sees no names in the text of `sql`.
 */
class ScopeCompiler extends NamesCompiler {
  protected override visitTable(node: TableNode): void {
    const table = node.table.identifier.name
    if (table in TENANT_TABLES && !this.#isReference() && !this.#isScoped(node))
      throw new Error(`The table ${table} is used without the scope of an organization`)
    super.visitTable(node)
  }

  protected override visitSelectQuery(node: SelectQueryNode): void {
    const locks = node.endModifiers?.filter(({ modifier }) => modifier !== undefined && LOCKS.includes(modifier)) ?? []
    const subSelects = [...(node.from?.froms ?? []), ...(node.joins ?? []).map(({ table }) => table)].flatMap(subSelectName)
    // PostgreSQL would lock every row of the sub-select, because it can't apply the statement's conditions before.
    for (const { of: lockedTables } of locks)
      if (subSelects.some((name) => !lockedTables || lockedTables.some((table) => tableName(table) === name)))
        throw new Error(
          'A lock includes the rows of a sub-select. Lock the table of selectFrom, or lock in a sub-select of its own',
        )
    super.visitSelectQuery(node)
  }

  /** A column of the table, or a lock of its rows. */
  #isReference(): boolean {
    const parent = this.parentNode
    return parent !== undefined && (ReferenceNode.is(parent) || SelectModifierNode.is(parent))
  }

  #isScoped(node: TableNode): boolean {
    const condition = scopedTables.get(node)
    if (!condition) return condition === null
    const statement = this.nodeStack.findLast((ancestor): ancestor is SelectQueryNode => STATEMENTS.includes(ancestor.kind))
    return hasCondition(statement?.where?.where, condition)
  }
}

const LOCKS: readonly string[] = ['ForUpdate', 'ForNoKeyUpdate', 'ForShare', 'ForKeyShare']

const subSelectName = (node: OperationNode): string[] =>
  AliasNode.is(node) && SelectQueryNode.is(node.node) && IdentifierNode.is(node.alias) ? [node.alias.name] : []
const tableName = (node: OperationNode): string | undefined => (TableNode.is(node) ? node.table.identifier.name : undefined)

const STATEMENTS: readonly string[] = ['SelectQueryNode', 'UpdateQueryNode', 'DeleteQueryNode']

const hasCondition = (node: OperationNode | undefined, condition: OperationNode): boolean =>
  node === condition ||
  (node !== undefined && AndNode.is(node) && (hasCondition(node.left, condition) || hasCondition(node.right, condition)))

const adapter = new PostgresAdapter()
const driver = new DummyDriver()
const dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: (db: Kysely<never>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new NamesCompiler(),
}

const createKysely = (session: Session, compiler: NamesCompiler): Kysely<Tables> => {
  const connection: DatabaseConnection = { executeQuery: (query) => execute(session, query), streamQuery: refuseStream }
  const executor = new DefaultQueryExecutor(compiler, adapter, { provideConnection: (use) => use(connection) })
  return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor })
}

async function execute(session: Session, { sql, parameters }: CompiledQuery) {
  const { rows, rowCount, command } = await session.query({ text: sql, values: [...parameters] })
  return { rows: rows as never[], ...(command !== 'SELECT' && { numAffectedRows: BigInt(rowCount ?? 0) }) }
}

function refuseStream(): never {
  throw new Error('Rows are not streamed')
}

const scoped = new WeakMap<Session, Kysely<Tables>>()
const unscoped = new WeakMap<Session, Kysely<Tables>>()

function memoized(
  kyselyBySession: WeakMap<Session, Kysely<Tables>>,
  session: Session,
  compiler: () => NamesCompiler,
): Kysely<Tables> {
  const kysely = kyselyBySession.get(session) ?? createKysely(session, compiler())
  kyselyBySession.set(session, kysely)
  return kysely
}

/** Kysely whose statements go by the session, and must be scoped. */
export const scopedKysely = (session: Session): Kysely<Tables> => memoized(scoped, session, () => new ScopeCompiler())
/** Kysely whose statements go by the session. */
export const unscopedKysely = (session: Session): Kysely<Tables> => memoized(unscoped, session, () => new NamesCompiler())
