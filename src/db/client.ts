import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from '../generated/prisma/client.ts'

/** The data layer: Prisma over a pool of connections. */
export type Db = PrismaClient
/** The same inside an interactive transaction. */
export type Transaction = Parameters<Parameters<Db['$transaction']>[0]>[0]

/** Milliseconds. Each bounds one way in which a request could otherwise wait for the database without end. */
const TIMEOUTS = { connect: 3_000, statement: 5_000, lock: 3_000, idleInTransaction: 10_000 }

/** Opens a pool of at most `max` connections; they are made when first needed. Close it with `$disconnect()`. */
export function createDb(url: string, { max = 10 }: { max?: number } = {}): Db {
  const pool = {
    connectionString: url,
    max,
    connectionTimeoutMillis: TIMEOUTS.connect,
    statement_timeout: TIMEOUTS.statement,
    lock_timeout: TIMEOUTS.lock,
    idle_in_transaction_session_timeout: TIMEOUTS.idleInTransaction,
    keepAlive: true,
  }
  return new PrismaClient({ adapter: new PrismaPg(pool) })
}
