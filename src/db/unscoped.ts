import type { Kysely } from 'kysely'
import { builder, type Tables } from './builder.ts'
import { type Connection, sessionOf } from './client.ts'
import { unscopedKysely } from './executor.ts'
import { unscopedConnection } from './tenant-db.ts'

/**
 * Queries over the rows of all organizations: `.ci/unscoped-files.mjs` lists the files that may import it, each with its reason. Without a
 * connection, for parts of other queries.
 */
export const unscoped = (db?: Connection): Kysely<Tables> => (db ? unscopedKysely(sessionOf(db)) : builder)

/** Prisma Client over the rows of all organizations; restricted to the same files. */
export const unscopedPrisma = (db: Connection): Connection => unscopedConnection(db)
