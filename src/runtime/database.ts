import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { findPendingMigrations, migrate } from '../db/migrate.ts'
import type { Config } from './config.ts'

const DATABASE_RETRY_MS = 500
/** How long to wait at the start for a database that is still starting itself. */
const DATABASE_PATIENCE_MS = 60_000

/** The configured database, started if it is the embedded one. It is brought up to date or, unless `migrates`, has to be. */
export async function openDatabase(
  config: Config,
  log: FastifyBaseLogger,
  opened: AsyncDisposableStack,
  { migrates, signal }: { migrates: boolean; signal: AbortSignal | undefined },
): Promise<{ url: string; folder: string; migrated: string[] }> {
  const embedded = config.databaseUrl ? undefined : await startEmbeddedDatabase({ dataDir: config.dataDir, signal })
  if (embedded) {
    opened.defer(embedded.release)
    log.info({ folder: embedded.home }, 'the embedded database and its secret')
  }
  signal?.throwIfAborted()
  const url = config.databaseUrl ?? embedded!.url
  const migrated = migrates ? await migrateWhenReachable(url, log, signal) : await requireMigrations(url)
  return { url, folder: embedded?.home ?? config.dataDir, migrated }
}

/** A service that starts beside its database, as under docker compose, may be there first. */
async function migrateWhenReachable(url: string, log: FastifyBaseLogger, signal?: AbortSignal): Promise<string[]> {
  const deadline = Date.now() + DATABASE_PATIENCE_MS
  for (let told = false; ; told = true) {
    try {
      return await migrate(url, { log })
    } catch (error) {
      if (!isUnreachable(error) || Date.now() > deadline) throw error
      if (!told) log.warn({ reason: (error as Error).message }, 'waiting for the database')
      await sleep(DATABASE_RETRY_MS, undefined, { signal })
    }
  }
}

async function requireMigrations(url: string): Promise<[]> {
  const pending = await findPendingMigrations(url)
  if (pending.length > 0) throw new Error('The database is not up to date. Run: npm run cli -- migrate')
  return []
}

/** No server there (yet), or one that is still starting (57P03). */
const isUnreachable = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'ENOENT', '57P03'].includes((error as { code?: string }).code ?? '')
