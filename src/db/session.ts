import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'
import { RequestAbortedError, TransactionClosedError } from './errors.ts'
import { type JoinedTransaction, joinTransaction, lazyClient } from './prisma-adapter.ts'
import type { NameStatement } from './statement-names.ts'

/** A text with $1 and so on; Prisma's `sql` is one. */
export type Statement = { text: string; values: unknown[] }
/** @property timeout milliseconds that a transaction may take; by default as long as the pool gives one query. */
export type TransactionLimits = { timeout?: number }

/** Target of statements: the pool, or one open transaction. Errors are pg's own. */
export type Session = {
  /** Prisma Client on the same connection. */
  prisma: Prisma.TransactionClient
  /** @throws TransactionClosedError where the transaction has ended before. */
  query: <Row extends object>(statement: Statement) => Promise<QueryResult<Row>>
  /** Executes all of the statements or none; outside a transaction they are sent in one packet. @returns the rows of the last statement. */
  queryAll: <Row extends object>(statements: Statement[]) => Promise<Row[]>
  /** Does the work in a transaction; inside an open one it becomes a savepoint: when it fails, the transaction can go on. */
  transaction: <T>(work: (inside: Session) => Promise<T>, limits?: TransactionLimits) => Promise<T>
  /** The same session, whose statements PostgreSQL cancels when the signal aborts. A transaction runs to its end. */
  withSignal: (signal: AbortSignal) => Session
}

/** @property isShared whether each transaction may be on another session of PostgreSQL, behind a pooler. */
type Service = { pool: Pool; prisma: PrismaClient; nameOf: NameStatement; isShared: boolean }

export function openSession(service: Service): Session {
  const { pool, prisma, nameOf, isShared } = service
  const session: Session = {
    prisma,
    query: (statement) => pool.query(named(nameOf, statement)),
    queryAll: (statements) => queryInOnePacket(service, statements),
    transaction: (work, limits) => runTransaction(service, work, limits),
    // A pooler's connection doesn't identify a server process, so canceling could hit somebody else's statement.
    withSignal: (signal) =>
      isShared ? session : { ...session, query: (statement) => queryUntilAborted(pool, named(nameOf, statement), signal) },
  }
  return session
}

async function runTransaction<T>(
  { pool, prisma, nameOf }: Service,
  work: (inside: Session) => Promise<T>,
  { timeout = pool.options.query_timeout ?? 0 }: TransactionLimits = {},
): Promise<T> {
  const client = await pool.connect()
  let isOver = false
  let joined: JoinedTransaction | undefined
  const requireOpen = () => {
    if (isOver) throw new TransactionClosedError()
  }
  const inside = sessionOfTransaction({
    async query(statement) {
      requireOpen()
      return client.query({ ...named(nameOf, statement), query_timeout: timeout } as QueryConfig)
    },
    prisma: lazyClient(async () => {
      requireOpen()
      joined ??= joinTransaction(prisma, { client, requireOpen }, timeout * 2)
      return joined.inside
    }),
  })
  /** A connection whose end was not confirmed is not used again. */
  const end = async (command: 'COMMIT' | 'ROLLBACK') => {
    isOver = true
    await joined?.leave()
    const ended = await client.query(command).catch((error) => {
      client.release(!(error instanceof DatabaseError))
      throw error
    })
    client.release()
    if (ended.command !== command) throw new Error('The transaction had failed: it was rolled back')
  }
  const rollBack = () => end('ROLLBACK').catch(() => {})
  let timedOut: Promise<void> | undefined
  const timer = setTimeout(() => {
    timedOut = rollBack()
  }, timeout)
  try {
    await client.query('BEGIN')
    const result = await work(inside)
    requireOpen()
    clearTimeout(timer)
    await end('COMMIT')
    return result
  } catch (error) {
    clearTimeout(timer)
    await (timedOut ?? (isOver ? undefined : rollBack()))
    throw error
  }
}

/** @param depth of the savepoints around it. */
function sessionOfTransaction({ query, prisma }: Pick<Session, 'query' | 'prisma'>, depth = 0): Session {
  const savepoint = `s${depth + 1}`
  let last: Promise<unknown> = Promise.resolve()
  const session: Session = {
    prisma,
    query,
    queryAll: <Row extends object>(statements: Statement[]) =>
      session.transaction(async () => {
        let rows: Row[] = []
        for (const statement of statements) rows = (await query<Row>(statement)).rows
        return rows
      }),
    // One after the other: the end of a savepoint is also the end of all that began after it.
    transaction(work) {
      const result = last.then(() => runSavepoint(work))
      last = result.catch(() => {})
      return result
    },
    withSignal: () => session,
  }
  async function runSavepoint<T>(work: (inside: Session) => Promise<T>): Promise<T> {
    await query({ text: `SAVEPOINT ${savepoint}`, values: [] })
    try {
      const result = await work(sessionOfTransaction({ query, prisma }, depth + 1))
      await query({ text: `RELEASE SAVEPOINT ${savepoint}`, values: [] })
      return result
    } catch (error) {
      await query({ text: `ROLLBACK TO SAVEPOINT ${savepoint}`, values: [] }).catch(() => {}) // the first error says why
      throw error
    }
  }
  return session
}

/** Cancels the query when the signal aborts. The connection is released after the cancellation, which could otherwise hit another query. */
async function queryUntilAborted<Row extends object>(
  pool: Pool,
  query: QueryConfig,
  signal: AbortSignal,
): Promise<QueryResult<Row>> {
  const connection: PoolClient & { processID?: number } = await pool.connect()
  let cancelled: Promise<unknown> | undefined
  const cancel = () => {
    cancelled = pool.query('SELECT pg_cancel_backend($1)', [connection.processID])
  }
  try {
    if (signal.aborted) throw new RequestAbortedError()
    signal.addEventListener('abort', cancel)
    return await connection.query<Row>(query)
  } finally {
    signal.removeEventListener('abort', cancel)
    const isSure = await Promise.resolve(cancelled).then(
      () => true,
      () => false,
    )
    connection.release(!isSure)
  }
}

/** A transaction in one round trip costs this process a fifth of what {@link runTransaction} does. */
async function queryInOnePacket<Row extends object>({ pool, nameOf }: Service, statements: Statement[]): Promise<Row[]> {
  const connection = await pool.connect()
  try {
    const results = inOneWrite<Row>(connection, [
      { text: 'BEGIN' },
      ...statements.map((statement) => named(nameOf, statement)),
      { text: 'COMMIT' },
    ])
    // Behind a statement that fails all others do, and COMMIT rolls back: all have been answered when the connection is given back.
    await Promise.allSettled(results)
    const answers = await Promise.all(results)
    connection.release()
    return answers.at(-2)!.rows
  } catch (error) {
    // A connection stays usable after an error from PostgreSQL, which rolled back. After any other error it is closed.
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
