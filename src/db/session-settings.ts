import type { Client, Pool } from 'pg'

/** Settings of every session, times in milliseconds. Each prevents one way to wait without end. */
const SETTINGS = {
  statement_timeout: '4000',
  lock_timeout: '3000',
  idle_in_transaction_session_timeout: '10000',
  /** Prisma writes UTC times without a zone. */
  TimeZone: 'UTC',
  /** JIT compilation takes longer than any of the service's statements. */
  jit: 'off',
}

/** As a connection's `options`. A pooler takes none, or keeps them for itself. */
export const SESSION_OPTIONS = optionsOf(SETTINGS)

/** Options of separate connections that may work for long: without the time limits of the service's role. */
export const UNBOUNDED_OPTIONS = optionsOf({
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
})

function optionsOf(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Stores the settings at the connection's role, so that every session in this database has them, including a pooler's. */
export async function giveRoleSettings(client: Client): Promise<void> {
  for (const [name, value] of Object.entries(SETTINGS)) {
    const { rows } = await client.query(
      `SELECT format('ALTER ROLE %I IN DATABASE %I SET %I = %L', current_user, current_database(), $1::text, $2::text) AS change
       WHERE NOT EXISTS (SELECT FROM pg_db_role_setting WHERE setrole = current_user::regrole AND $1 || '=' || $2 = ANY (setconfig)
         AND setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))`,
      [name, value],
    )
    if (rows.length > 0) await client.query(rows[0].change)
  }
}

/** @throws Error naming each setting that a session behind the pooler has otherwise: times would be read shifted, or statements go on for ever. */
export async function requireSettings(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)',
    [Object.keys(SETTINGS)],
  )
  const values = new Map(rows.map(({ name, setting }) => [name, setting]))
  const wrong = Object.entries(SETTINGS).filter(([name, value]) => values.get(name) !== value)
  if (wrong.length === 0) return
  const list = wrong.map(([name, value]) => `${name} is ${values.get(name)} instead of ${value}`).join(', ')
  throw new Error(
    `Sessions behind the pooler are not as the service needs them: ${list}. Are DATABASE_URL and DATABASE_DIRECT_URL one database and one user, and has the pooler connections from before? (RECONNECT, on its console)`,
  )
}
