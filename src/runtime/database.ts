import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { createDb, type Db, openPool } from '../db/client.ts'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { findPendingMigrations, migrate } from '../db/migrate.ts'
import { requireSettings, UNBOUNDED_OPTIONS } from '../db/session-settings.ts'
import type { Config } from './config.ts'

const DATABASE_RETRY_MS = 500
/** The database may still be starting, too. */
const DATABASE_WAIT_MS = 60_000

/** Starts the embedded database if it is configured, and applies migrations. @throws Error if migrations are pending and `migrates` is false. */
export async function openDatabase(
  config: Config,
  log: FastifyBaseLogger,
  stack: AsyncDisposableStack,
  { migrates, signal }: { migrates: boolean; signal: AbortSignal | undefined },
): Promise<{ url: string; folder: string; migrated: string[] }> {
  const embedded = config.databaseUrl ? undefined : await startEmbeddedDatabase({ dataDir: config.dataDir, signal })
  if (embedded) {
    stack.defer(embedded.release)
    log.info({ folder: embedded.home }, 'using the embedded database and its secret')
    if (embedded.wasAbandoned)
      log.warn('the embedded PostgreSQL was still running after the service was killed: this start uses it')
  }
  signal?.throwIfAborted()
  const url = config.databaseDirectUrl ?? embedded!.url
  const migrated = migrates ? await migrateWhenReachable(url, log, config.databasePooler, signal) : await requireMigrations(url)
  return { url, folder: embedded?.home ?? config.dataDir, migrated }
}

/**
 * Opens the service's pool, through the pooler if there is one. CLI commands connect directly.
 *
 * @param role.direct URL past the pooler.
 * @returns also the connection of the job queue. A process that runs jobs needs LISTEN, so it connects directly.
 * @throws Error if the pooler's sessions lack required settings.
 */
export async function openDb(
  { databaseUrl, databasePooler, databasePoolSize: max }: Config,
  outageListener: { log: FastifyBaseLogger; onAway: () => void },
  stack: AsyncDisposableStack,
  { direct, serves, works }: { direct: string; serves: boolean; works: boolean },
): Promise<{ pool: Pool; db: Db; jobs: { url: string; options?: string } }> {
  const isShared = serves && databasePooler.isShared
  const url = isShared ? databaseUrl! : direct
  const pool = openPool(url, { max, ...outageListener, isShared })
  const db = createDb(pool, isShared ? databasePooler : { isNamed: databasePooler.isShared || databasePooler.isNamed })
  stack.defer(() => db.$disconnect())
  if (isShared) await requireSettings(pool)
  const isListening = works || !isShared
  return { pool, db, jobs: isListening ? { url: direct, options: UNBOUNDED_OPTIONS } : { url } }
}

/** Waits for the database: docker compose may start the service first. */
async function migrateWhenReachable(
  url: string,
  log: FastifyBaseLogger,
  { isShared }: Config['databasePooler'],
  signal?: AbortSignal,
): Promise<string[]> {
  const deadline = Date.now() + DATABASE_WAIT_MS
  for (let hasLogged = false; ; hasLogged = true) {
    try {
      return await migrate(url, { log, isShared })
    } catch (error) {
      if (!isUnreachable(error) || Date.now() > deadline) throw error
      if (!hasLogged) log.warn({ reason: (error as Error).message }, 'waiting for the database')
      await sleep(DATABASE_RETRY_MS, undefined, { signal })
    }
  }
}

async function requireMigrations(url: string): Promise<[]> {
  const pending = await findPendingMigrations(url)
  if (pending.length > 0) throw new Error('The database is not up to date. Run: npm run cli -- migrate')
  return []
}

/** True if there is no server (yet), or it is starting (57P03). */
const isUnreachable = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'ENOENT', '57P03'].includes((error as { code?: string }).code ?? '')
