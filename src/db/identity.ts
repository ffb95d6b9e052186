import { sql } from './builder.ts'
import type { Connection } from './client.ts'
import { rawStatement } from './statements.ts'

/** SQL: the timeline that a primary writes. */
const timeline = sql<number>`('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int`

/**
 * SQL: which database this is, on a primary. One that is restored from a dump has another id, or another cluster; one that was wound back,
 * or whose standby took over, another timeline. That is asked of the log of changes as it is written: what PostgreSQL notes of it elsewhere
 * (`pg_control_checkpoint()`) is as old as the last checkpoint, which may be minutes.
 */
export const identity = sql<string>`
  (SELECT oid::text FROM pg_database WHERE datname = current_database()) ||
  CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE')
    THEN (SELECT '.' || system_identifier FROM pg_control_system()) ELSE '' END ||
  '.' || ${timeline}`

/** The timeline that a primary writes: higher by one after each failover, and each restore to a point in time. */
export const readTimeline = async (db: Connection): Promise<number> =>
  (await rawStatement(db, sql<{ timeline: number }>`SELECT ${timeline} AS timeline`).executeTakeFirstOrThrow()).timeline
