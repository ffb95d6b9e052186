import { PrismaPg } from '@prisma/adapter-pg'
import { DatabaseError, Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg'
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts'
import { type OutageLog, watchConnections } from './availability.ts'
import { Abandoned } from './errors.ts'

/** The data layer: Prisma over a pool of connections. */
export type Db = PrismaClient
/** The same inside an interactive transaction. */
export type Transaction = Parameters<Parameters<Db['$transaction']>[0]>[0]
/** Where queries go: each by itself over the pool or, inside a transaction, into it. */
export type Connection = Db | Transaction

/** Milliseconds. Each bounds one way in which a request could otherwise wait for the database without end. */
const TIMEOUTS = {
  connectionTimeoutMillis: 2_500,
  /** By the server, and by ourselves for a connection that has gone silent. */
  statement_timeout: 4_000,
  query_timeout: 5_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 10_000,
}
/** Prisma writes times in UTC without saying so: the session is to read them as that, whatever the database's own time zone. */
const IN_UTC = '-c TimeZone=UTC'
/** PostgreSQL would compile what it takes to be much work, each time anew: that takes longer than any statement of ours does otherwise. */
const UNCOMPILED = '-c jit=off'

/** Opens a pool of at most `max` connections; they are made when first needed. @param options.log is told of outages. */
export function openPool(url: string, { max = 10, log }: { max?: number; log?: OutageLog } = {}): Pool {
  const options = `${IN_UTC} ${UNCOMPILED}`
  const pool = new Pool({ connectionString: url, max, keepAlive: true, pipeline: true, options, ...TIMEOUTS })
  // A connection that breaks in the instant between being made and being used would have no listener, and end the process. The query
  // that it was made for fails with it.
  pool.on('connect', (client) => client.on('error', () => {}))
  watchConnections(pool, log)
  return pool
}

/** What lies below each Db. */
const pools = new WeakMap<Connection, { pool: Pool; nameOf: NameStatement }>()

/** Prisma over the pool; `$disconnect()` closes both. */
export function createDb(pool: Pool): Db {
  const nameOf = nameStatements()
  const db = new PrismaClient({
    adapter: new PrismaPg(pool, { disposeExternalPool: true, statementNameGenerator: nameOf }),
    // The other formats name the line that made the query, and so make a stack trace for each.
    errorFormat: 'minimal',
  })
  pools.set(db, { pool, nameOf })
  return db
}

/** Has somebody told when who asked for an answer has gone without it. @returns what ends that. */
export type OnGone = (tell: () => void) => () => void

/**
 * The rows of a statement, as `$queryRaw` has them. Outside a transaction it goes straight to the pool, which costs this process half as
 * much. The values are null, text, numbers, booleans, times or lists of these; of the columns none may be a bigint or a decimal, which pg
 * has as text. Errors are then pg's own.
 *
 * @param onGone PostgreSQL stops working on the statement when who asked has gone.
 */
export async function queryRows<Row extends object>(db: Connection, statement: Prisma.Sql, onGone?: OnGone): Promise<Row[]> {
  const below = pools.get(db)
  if (!below) return db.$queryRaw<Row[]>(statement)
  if (onGone) return queryUnlessGone(below.pool, named(below.nameOf, statement), onGone)
  const { rows } = await below.pool.query<Row>(named(below.nameOf, statement))
  return rows
}

/** The connection is given back once it is sure that no other statement is the one that gets cancelled. */
async function queryUnlessGone<Row extends object>(pool: Pool, query: QueryConfig, onGone: OnGone): Promise<Row[]> {
  let connection: (PoolClient & { processID?: number }) | undefined
  let cancelled: Promise<unknown> | undefined
  const stay = onGone(() => {
    cancelled = connection ? pool.query('SELECT pg_cancel_backend($1)', [connection.processID]) : Promise.resolve()
  })
  try {
    connection = await pool.connect()
    if (cancelled) throw new Abandoned()
    const { rows } = await connection.query<Row>(query)
    return rows
  } finally {
    stay()
    const isSure = await Promise.resolve(cancelled).then(
      () => true,
      () => false,
    )
    connection?.release(!isSure)
  }
}

/** Prisma's `sql`; or a text with $1 and so on. */
export type Statement = { text: string; values: unknown[] }

/**
 * Executes statements that are known beforehand, all or none of them. By themselves they are a transaction straight on a connection, in one
 * round trip, which costs this process a fifth of what `$transaction` does; within one they are a savepoint.
 *
 * @returns the rows of the last. They, the values and the errors are as those of `queryRows`.
 */
export async function executeTogether<Row extends object>(db: Connection, statements: Statement[]): Promise<Row[]> {
  const below = pools.get(db)
  if (!below) {
    return db.$transaction(async (inside) => {
      let rows: Row[] = []
      for (const { text, values } of statements) rows = await inside.$queryRawUnsafe<Row[]>(text, ...values)
      return rows
    })
  }
  const connection = await below.pool.connect()
  try {
    const sent = inOneWrite<Row>(connection, [
      { text: 'BEGIN' },
      ...statements.map((statement) => named(below.nameOf, statement)),
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
