import {
  AliasNode,
  ColumnNode,
  type DatabaseConnection,
  DummyDriver,
  IdentifierNode,
  type IdentifierNode as IdentifierNodeType,
  Kysely,
  type OperationNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  ReferenceNode,
  ReturningNode,
  SelectAllNode,
  type SelectionNode,
  sql,
} from 'kysely'
import type { Tables } from '../generated/kysely/tables.ts'

export { sql, type Tables }

/** Selections other than the outermost one that keep the schema's names, because they become JSON. */
const spoken = new WeakSet<OperationNode>()

/** Returns the columns of a sub-select under the names of the schema. */
export function speak<Q extends { toOperationNode(): OperationNode }>(query: Q): Q {
  spoken.add(query.toOperationNode())
  return query
}

/** Statements are written with the names of schema.prisma and compiled to snake case. The outermost selection is aliased back. */
export class NamesCompiler extends PostgresQueryCompiler {
  #isAnswer = false

  protected override visitSelection(node: SelectionNode): void {
    if (this.#isShown()) this.#answerWith(node)
    else super.visitSelection(node)
  }

  #answerWith(node: SelectionNode): void {
    const { selection } = node
    const column = ReferenceNode.is(selection) ? selection.column : selection
    if (SelectAllNode.is(column)) throw new Error('What a statement answers with is named column by column')
    if (AliasNode.is(selection) && IdentifierNode.is(selection.alias)) {
      this.visitNode(selection.node)
      this.#appendAnswer(selection.alias)
      return
    }
    super.visitSelection(node)
    if (ColumnNode.is(column) && snakeOf(column.column.name) !== column.column.name) this.#appendAnswer(column.column)
  }

  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(this.#isAnswer ? identifier : snakeOf(identifier))
  }

  #appendAnswer(name: IdentifierNodeType): void {
    this.append(' as ')
    this.#isAnswer = true
    this.visitNode(name)
    this.#isAnswer = false
  }

  /** True for columns that the statement, or JSON in it, returns. */
  #isShown(): boolean {
    const [owner, grandparent] = [this.nodeStack.at(-2), this.nodeStack.at(-3)]
    const statement = owner && ReturningNode.is(owner) ? grandparent : owner
    return statement !== undefined && (statement === this.nodeStack[0] || spoken.has(statement))
  }
}

const snakeNames = new Map<string, string>()
export function snakeOf(name: string): string {
  const cached = snakeNames.get(name)
  if (cached !== undefined) return cached
  const snake = name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
  // Names come from the code, so the cache stays small.
  snakeNames.set(name, snake)
  return snake
}

class NoDriver extends DummyDriver {
  override acquireConnection(): Promise<DatabaseConnection> {
    return Promise.reject(new Error('The query was begun by unscoped() without a connection'))
  }
}

/** Builds statements without a connection: `.execute()` throws. */
export const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new NoDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new NamesCompiler(),
  },
})

/** A whole statement that is written by hand. */
export const statement = <Row>(raw: RawBuilder<Row>) => ({ compile: () => raw.compile(builder) })
