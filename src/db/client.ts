import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import { DatabaseError, Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg'
import { PrismaClient } from '../generated/prisma/client.ts'
import { type OutageLog, watchConnections } from './availability.ts'
import { Abandoned, TransactionOver } from './errors.ts'
import { SESSION_OPTIONS } from './session-settings.ts'

/** The data layer: Prisma over a pool of connections. */
export type Db = PrismaClient
/** What Prisma offers inside an interactive transaction. */
export type Transaction = Parameters<Parameters<Db['$transaction']>[0]>[0]
/** Where queries go: each by itself over the pool or, inside a transaction, into it. */
export type Connection = Db | Transaction

/** Milliseconds, for a connection that can't be had, or has gone silent. Those of the server: session-settings.ts. */
const TIMEOUTS = { connectionTimeoutMillis: 2_500, query_timeout: 5_000 }

/** @property isShared whether the connections lead to a pooler in transaction mode: see {@link createDb}. */
type PoolOptions = { max?: number; log?: OutageLog | undefined; onAway?: () => void; isShared?: boolean }

/** Opens a pool of at most `max` connections; they are made when first needed. @param options.log is told of outages, so is `onAway`. */
export function openPool(url: string, { max = 10, log, onAway, isShared = false }: PoolOptions = {}): Pool {
  const session = isShared ? {} : { options: SESSION_OPTIONS }
  const pool = new Pool({ connectionString: url, max, keepAlive: true, pipeline: true, ...session, ...TIMEOUTS })
  // A connection that breaks in the instant between being made and being used would have no listener, and end the process. The query
  // that it was made for fails with it.
  pool.on('connect', (client) => client.on('error', () => {}))
  // Of one that breaks while nobody uses it the pool tells here, and has let go of it already.
  pool.on('error', () => {})
  watchConnections(pool, log, onAway)
  return pool
}

/**
 * What lies below each Db: a pool, or the connection of a transaction until that is over.
 *
 * @property onGone of whom its statements are, see {@link untilGone}.
 */
type Below = {
  pool: Pool
  isShared: boolean
  connection?: PoolClient | undefined
  isOver: boolean
  nameOf: NameStatement
  onGone?: OnGone
}
const below = new WeakMap<Connection, Below>()

/**
 * Prisma over the pool; `$disconnect()` closes both.
 *
 * @param options.isShared whether each transaction may be on another session, behind a pooler. @param options.isNamed whether statements
 *   may have names: not behind a pooler that does not know them on the next session.
 */
export function createDb(pool: Pool, { isShared = false, isNamed = true } = {}): Db {
  const nameOf = isNamed ? nameStatements() : () => ''
  const db = new PrismaClient({
    adapter: new NotingPg(pool, { statementNameGenerator: nameOf }),
    // The other formats name the line that made the query, and so make a stack trace for each.
    errorFormat: 'minimal',
  })
  below.set(db, { pool, isShared, isOver: false, nameOf })
  // Prisma closes nothing where no query has gone by it.
  const disconnect = db.$disconnect.bind(db)
  db.$disconnect = async () => {
    await disconnect()
    if (!pool.ending) await pool.end()
  }
  return db
}

/** A transaction that is about to begin: what notes the connection on which it does. */
type Beginning = { note: ((connection: PoolClient) => { over: () => void }) | undefined }
const beginnings = new AsyncLocalStorage<Beginning>()

/**
 * Prisma's adapter, which tells `transact` on which connection a transaction begins, and when it ends. The connection is a private field of
 * what the adapter makes: where a release of Prisma has it no more, `transact` says so at its first use.
 */
class NotingPg extends PrismaPg {
  override async connect() {
    const adapter = await super.connect()
    const start = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await start(isolationLevel)
      const beginning = beginnings.getStore()
      const noted = beginning?.note?.((transaction as unknown as { client: PoolClient }).client)
      if (noted) watchEnd(transaction, noted.over)
      return transaction
    }
    return adapter
  }
}

/** Prisma sends COMMIT or ROLLBACK as a statement, also when its time is over, and gives the connection back after that. */
function watchEnd(transaction: AdapterTransaction, over: () => void): void {
  const execute = transaction.executeRaw.bind(transaction)
  transaction.executeRaw = (query) => {
    if (query.sql === 'COMMIT' || query.sql === 'ROLLBACK') over()
    return execute(query)
  }
}
type AdapterTransaction = Awaited<ReturnType<Awaited<ReturnType<PrismaPg['connect']>>['startTransaction']>>

/** Milliseconds: how long a transaction may wait for its connection, and how long it may take. */
export type TransactionLimits = { maxWait?: number; timeout?: number }

/**
 * Does the work in a transaction, for Prisma's queries and for {@link send} alike. Inside an open one it becomes a savepoint: when it fails,
 * the transaction can go on.
 */
export async function transact<T>(
  db: Connection,
  work: (inside: Transaction) => Promise<T>,
  limits?: TransactionLimits,
): Promise<T> {
  const outer = belowOf(db)
  if (outer.connection) {
    return db.$transaction((inside) => {
      below.set(inside, outer)
      return work(inside)
    })
  }
  const mine: Below = { ...outer }
  const beginning: Beginning = {
    note(connection) {
      beginning.note = undefined // what else begins meanwhile is not this one
      mine.connection = connection
      return {
        over() {
          mine.isOver = true
        },
      }
    },
  }
  return beginnings.run(beginning, () =>
    (db as Db).$transaction((inside) => {
      if (!mine.connection?.query) throw new Error('Prisma does not say any more on which connection a transaction begins')
      below.set(inside, mine)
      return work(inside)
    }, limits),
  )
}

function belowOf(db: Connection): Below {
  const known = below.get(db)
  if (!known) throw new Error('The database was not opened by createDb, or the transaction not begun by transact')
  if (known.isOver) throw new TransactionOver()
  return known
}

/** Has somebody told when who asked for an answer has gone without it. @returns what ends that. */
export type OnGone = (tell: () => void) => () => void

/**
 * The same connection, on which PostgreSQL stops working on what {@link send} sends when who asked has gone. That takes a connection for
 * each statement alone, so it is for those that can take long. A transaction goes to its end.
 */
export function untilGone(db: Connection, onGone: OnGone | undefined): Connection {
  const known = belowOf(db)
  // What a pooler calls a connection is not what PostgreSQL does: another's statement would be cancelled.
  if (known.connection || !onGone || known.isShared) return db
  const own = new Proxy(db, {
    get(target, name) {
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  below.set(own, { ...known, onGone })
  return own
}

/** A text with $1 and so on; Prisma's `sql` is one. */
export type Statement = { text: string; values: unknown[] }

/**
 * Sends a statement: to the pool or, inside a transaction, into it. Errors are pg's own.
 *
 * @throws TransactionOver where the transaction has ended before.
 */
export async function send<Row>(db: Connection, statement: Statement): Promise<QueryResult<Row & object>> {
  const { pool, connection, nameOf, onGone } = belowOf(db)
  const query = named(nameOf, statement)
  if (connection) return connection.query<Row & object>(query)
  return onGone ? sendUnlessGone(pool, query, onGone) : pool.query<Row & object>(query)
}

/** The connection is given back once it is sure that no other statement is the one that gets cancelled. */
async function sendUnlessGone<Row extends object>(pool: Pool, query: QueryConfig, onGone: OnGone): Promise<QueryResult<Row>> {
  let connection: (PoolClient & { processID?: number }) | undefined
  let cancelled: Promise<unknown> | undefined
  const stay = onGone(() => {
    cancelled = connection ? pool.query('SELECT pg_cancel_backend($1)', [connection.processID]) : Promise.resolve()
  })
  try {
    connection = await pool.connect()
    if (cancelled) throw new Abandoned()
    return await connection.query<Row>(query)
  } finally {
    stay()
    const isSure = await Promise.resolve(cancelled).then(
      () => true,
      () => false,
    )
    connection?.release(!isSure)
  }
}

/**
 * Sends statements that are known beforehand, all or none of them. By themselves they are a transaction straight on a connection, in one
 * round trip, which costs this process a fifth of what `transact` does; within one they are a savepoint.
 *
 * @returns the rows of the last. Errors are pg's own.
 */
export async function sendTogether<Row>(db: Connection, statements: Statement[]): Promise<Row[]> {
  const { pool, connection: open, nameOf } = belowOf(db)
  if (open) {
    return transact(db, async (inside) => {
      let rows: Row[] = []
      for (const statement of statements) rows = (await send<Row>(inside, statement)).rows
      return rows
    })
  }
  const connection = await pool.connect()
  try {
    const sent = inOneWrite<Row & object>(connection, [
      { text: 'BEGIN' },
      ...statements.map((statement) => named(nameOf, statement)),
      { text: 'COMMIT' },
    ])
    // Behind a statement that fails all others do, and COMMIT rolls back: all have been answered when the connection is given back.
    await Promise.allSettled(sent)
    const answers = await Promise.all(sent)
    connection.release()
    return answers.at(-2)!.rows
  } catch (error) {
    // What PostgreSQL refused has been rolled back; a connection on which anything else went wrong is not used again.
    connection.release(!(error instanceof DatabaseError))
    throw error
  }
}

/** Sends the queries without waiting for answers in between, in one packet if they fit. */
function inOneWrite<Row extends object>(connection: PoolClient, queries: QueryConfig[]): Promise<QueryResult<Row>>[] {
  const { stream } = connection.connection
  stream.cork()
  try {
    return queries.map((query) => connection.query<Row>(query))
  } finally {
    stream.uncork()
  }
}

const named = (nameOf: NameStatement, { text, values }: Statement) => ({
  name: nameOf({ sql: text, args: values }),
  text,
  values,
})

/** Each connection keeps a plan for each, so there is an end to them. */
const MAX_NAMED_STATEMENTS = 500
/** Longer lists of values come from imports, in any length. */
const MAX_NAMED_PARAMETERS = 150

type NameStatement = (query: { sql: string; args: unknown[] }) => string

/** A statement with a name is parsed once a connection, and planned once where its values make no difference: half the cost of a look-up. */
function nameStatements(): NameStatement {
  const names = new Map<string, string>()
  return ({ sql, args }) => {
    const known = names.get(sql)
    if (known !== undefined) return known
    if (names.size >= MAX_NAMED_STATEMENTS || args.length > MAX_NAMED_PARAMETERS) return ''
    const name = `s${names.size}`
    names.set(sql, name)
    return name
  }
}
