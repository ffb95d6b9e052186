import { Pool } from 'pg'
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts'
import { type OutageLog, watchConnections } from './availability.ts'
import { createAdapter } from './prisma-adapter.ts'
import { openSession, type Session, type Statement } from './session.ts'
import { SESSION_OPTIONS } from './session-settings.ts'
import { nameStatements } from './statement-names.ts'

export type { Session, Statement }

/** Prisma Client over a pool of connections. */
export type Db = PrismaClient
/** Target of queries: the pool, or an open transaction. */
export type Connection = Prisma.TransactionClient

/** Milliseconds until a connection attempt, or a silent connection, fails. session-settings.ts has the server's timeouts. */
const TIMEOUTS = { connectionTimeoutMillis: 2_500, query_timeout: 5_000 }

/** @property isShared whether the connections lead to a pooler in transaction mode: see {@link createDb}. */
type PoolOptions = { max?: number; log?: OutageLog | undefined; onAway?: () => void; isShared?: boolean }

/**
 * Opens a pool of at most `max` connections, which are made when first needed. @param options.log, @param options.onAway are notified of
 * outages.
 */
export function openPool(url: string, { max = 10, log, onAway, isShared = false }: PoolOptions = {}): Pool {
  const session = isShared ? {} : { options: SESSION_OPTIONS }
  const pool = new Pool({ connectionString: url, max, keepAlive: true, pipeline: true, ...session, ...TIMEOUTS })
  // A connection that breaks in the instant between being made and being used would have no listener, and end the process. The query
  // that it was made for fails with it.
  pool.on('connect', (client) => client.on('error', () => {}))
  // The pool reports an idle connection that broke, and has removed it already.
  pool.on('error', () => {})
  watchConnections(pool, log, onAway)
  return pool
}

const sessions = new WeakMap<Connection, Session>()

/** @throws Error for a transaction that Prisma Client has begun by itself. */
export function sessionOf(db: Connection): Session {
  const session = sessions.get(db)
  if (!session) throw new Error('The database was not opened by createDb, or the transaction not begun by transact')
  return session
}

/** Sends the connection's statements through the session. */
export function connect<C extends Connection>(connection: C, session: Session): C {
  sessions.set(connection, session)
  return connection
}

/**
 * Prisma over the pool; `$disconnect()` closes both.
 *
 * @param options.isShared whether each transaction may be on another session, behind a pooler. @param options.isNamed whether statements
 *   may have names: not behind a pooler that does not know them on the next session.
 */
export function createDb(pool: Pool, { isShared = false, isNamed = true } = {}): Db {
  const nameOf = isNamed ? nameStatements() : () => ''
  const prisma = new PrismaClient({
    adapter: createAdapter(pool, nameOf),
    // The other formats name the line that made the query, and so make a stack trace for each.
    errorFormat: 'minimal',
  })
  // Prisma closes nothing where no query has gone by it.
  const disconnect = prisma.$disconnect.bind(prisma)
  prisma.$disconnect = async () => {
    await disconnect()
    if (!pool.ending) await pool.end()
  }
  return connect(prisma, openSession({ pool, prisma, nameOf, isShared }))
}
