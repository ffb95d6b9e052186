import { type Connection, connect, type OnGone, sessionOf } from './client.ts'
import type { TransactionLimits } from './session.ts'
import { scopeLike } from './tenant-db.ts'

/** Does the work in a transaction, for Prisma and Kysely alike, in the same scope; inside an open one it becomes a savepoint. */
export const transact = <C extends Connection, T>(
  db: C,
  work: (inside: C) => Promise<T>,
  limits?: TransactionLimits,
): Promise<T> => sessionOf(db).transaction((inside) => work(scopeLike(db, connect(Object.create(inside.prisma), inside))), limits)

/**
 * The same database, whose statements PostgreSQL cancels when who asked has gone. That takes a connection for each statement alone, so it is
 * for those that can take long.
 */
export function untilGone<C extends Connection>(db: C, onGone: OnGone | undefined): C {
  if (!onGone) return db
  return scopeLike(db, connect(Object.create(db), sessionOf(db).untilGone(onGone)))
}
