import { type Connection, connect, sessionOf } from './client.ts'
import type { TransactionLimits } from './session.ts'
import { scopeLike, unscopedConnection } from './tenant-db.ts'

/** Does the work in a transaction, for Prisma and Kysely alike, in the same scope; inside an open one it becomes a savepoint. */
export const transact = <C extends Connection, T>(
  db: C,
  work: (inside: C) => Promise<T>,
  limits?: TransactionLimits,
): Promise<T> => sessionOf(db).transaction((inside) => work(scopeLike(db, connect(Object.create(inside.prisma), inside))), limits)

/**
 * The same database, whose statements PostgreSQL cancels when the signal aborts. Each statement takes a connection of its own, so use it for
 * slow ones.
 */
export function withSignal<C extends Connection>(db: C, signal: AbortSignal | undefined): C {
  if (!signal) return db
  return scopeLike(db, connect(Object.create(unscopedConnection(db)), sessionOf(db).withSignal(signal)))
}
