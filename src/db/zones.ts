import { sql } from './builder.ts'
import type { Connection } from './client.ts'
import { isUnknownValue } from './errors.ts'
import { rawStatement } from './statements.ts'

/** True if PostgreSQL knows the time zone. Call it outside of transactions: an unknown name ends one. */
export async function isZoneKnown(db: Connection, zone: string): Promise<boolean> {
  try {
    await rawStatement(db, sql`select now() at time zone ${zone}::text`).execute()
    return true
  } catch (error) {
    if (!isUnknownValue(error)) throw error
    return false
  }
}

/**
 * The offset of a zone at `from`, and its changes until `until`. Compares the offsets of weeks, because none lasts less than one, and then looks for
 * the quarter of an hour in which they change.
 */
export async function readZoneRules(
  db: Connection,
  zone: string,
  { from, until }: { from: Date; until: Date },
): Promise<{ at: number; offset: number }[]> {
  const offset = (at: string) =>
    sql`extract(epoch FROM (${sql.ref(at)} AT TIME ZONE ${zone}::text) - (${sql.ref(at)} AT TIME ZONE 'UTC')) / 60`
  const rows = await rawStatement(
    db,
    sql<{ at: string; offset: number }>`
      WITH week AS (
        SELECT at, (${offset('at')})::int AS "offset", lag(at) OVER (ORDER BY at) AS before
        FROM generate_series(${from}::timestamptz, ${until}::timestamptz, interval '7 days') at
      ),
      change AS (
        SELECT week.*, lag("offset") OVER (ORDER BY at) AS earlier FROM week
      )
      SELECT (extract(epoch FROM coalesce(exact, at)) * 1000)::float8 AS at, "offset" FROM change
      LEFT JOIN LATERAL (
        SELECT min(quarter) AS exact FROM generate_series(date_trunc('hour', before), at, interval '15 minutes') quarter
        WHERE before IS NOT NULL AND (${offset('quarter')})::int = change."offset" AND quarter > before
      ) found ON change.earlier IS DISTINCT FROM change."offset" AND before IS NOT NULL
      WHERE change.earlier IS DISTINCT FROM change."offset"
      ORDER BY 1`,
  ).execute()
  return rows.map(({ at, offset }) => ({ at: Number(at), offset: Number(offset) }))
}
