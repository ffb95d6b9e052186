import { sql } from './builder.ts'
import type { Connection } from './client.ts'
import { rawStatement } from './statements.ts'

/** SQL: the timeline that a primary writes. */
const timeline = sql<number>`('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int`

/**
 * SQL: identity of this database, on a primary. A restored dump has another id or cluster; a rewound database or a promoted standby has
 * another timeline. The timeline is read from the write-ahead log, because `pg_control_checkpoint()` may be minutes old.
 */
export const identity = sql<string>`
  (SELECT oid::text FROM pg_database WHERE datname = current_database()) ||
  CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE')
    THEN (SELECT '.' || system_identifier FROM pg_control_system()) ELSE '' END ||
  '.' || ${timeline}`

/** The timeline that a primary writes: higher by one after each failover, and each restore to a point in time. */
export const readTimeline = async (db: Connection): Promise<number> =>
  (await rawStatement(db, sql<{ timeline: number }>`SELECT ${timeline} AS timeline`).executeTakeFirstOrThrow()).timeline
