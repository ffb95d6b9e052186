import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'
import type { PgBoss } from 'pg-boss'
import { v7 as uuidv7 } from 'uuid'
import { createDb, openPool } from '../db/client.ts'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { findPendingMigrations, hasMigrations, migrate } from '../db/migrate.ts'
import { readMigrations } from '../db/migrations.ts'
import { createApiKeyCache, noApiKeyCache } from '../domain/access/api-key-cache.ts'
import { coalesce } from '../domain/coalesce.ts'
import type { Deps, ServiceContext } from '../domain/context.ts'
import { invitationUrl } from '../domain/invites/links.ts'
import { asDomainQueue, startQueue } from '../jobs/queue.ts'
import { workInvitationEmails } from '../jobs/send-invitations.ts'
import { workSweep } from '../jobs/sweep.ts'
import { type MailSettings, renderInvitation } from '../mail/invitation-email.ts'
import { createMailer, type Mailer } from '../mail/mailer.ts'
import type { Config } from './config.ts'
import { createMetrics, type MetricsRegistry } from './metrics.ts'
import { readOrMakeSecret } from './secret.ts'

/** What the service runs on. */
export type Dependencies = {
  /** The service acting by itself. */
  system: ServiceContext
  mailer: Mailer
  /** With PORT=0 the address in the links is known only when the service listens; it is set then, before any work. */
  mailSettings: MailSettings
  metrics: MetricsRegistry
  redis: Redis | undefined
  /** The names of the migrations that were applied to get here. */
  migrated: string[]
  /** Why requests should not be sent here now; empty when all is well. */
  findProblems: () => Promise<string[]>
  /** Begins to send mails and to sweep, where that is this process's role. */
  startWork: () => Promise<void>
  /** Lets the mails under way finish, then closes everything in the reverse order of its making. */
  dispose: () => Promise<void>
}

type Choices = {
  /** false: a process that does one thing and ends, like the command line: it queues mails but sends none, and remembers no keys. */
  serves?: boolean
  /** false: a database that is not up to date is refused, and nothing in it is changed. */
  migrates?: boolean
  /** The time, where it is not the system's. */
  clock?: () => Date
  /** Aborted when the process is told to stop: then nothing more is waited for or begun. */
  signal?: AbortSignal
}

/** Milliseconds that a mail under way has to finish when the service stops. */
const MAIL_GRACE_MS = 4_000
const CHECK_TIMEOUT_MS = 2_000
const REDIS_TIMEOUT_MS = 2_000
const REDIS_RETRY_MS = 3_000
const DATABASE_RETRY_MS = 500
/** How long to wait at the start for a database that is still starting itself. */
const DATABASE_PATIENCE_MS = 60_000

/** The configured database, started if it is the embedded one. It is brought up to date or, unless `migrates`, has to be. */
async function openDatabase(
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

/**
 * Opens the database, the queue and the way to the mail server. When it fails, nothing stays open.
 *
 * @throws Error when the database can't be reached within a minute, or is not, and can't be, brought up to date.
 */
export async function createDependencies(
  config: Config,
  log: FastifyBaseLogger,
  { serves = true, migrates = true, clock = () => new Date(), signal }: Choices = {},
): Promise<Dependencies> {
  await using opened = new AsyncDisposableStack()
  const works = serves && config.role !== 'api'
  // Read now, because a release that is installed over this one changes the files while this one still runs.
  const migrations = (await readMigrations()).map(({ name }) => name)
  const database = await openDatabase(config, log, opened, { migrates, signal })
  const secretKeys = config.secretKeys ?? [await readOrMakeSecret(database.folder, config.dataDir)]
  const mailSettings = { publicUrl: config.publicUrl, secretKeys, mailFrom: config.mailFrom }
  const pool = openPool(database.url, { max: config.databasePoolSize })
  const db = createDb(pool)
  opened.defer(() => db.$disconnect())
  const keys = serves ? createApiKeyCache(database.url, log) : { cache: noApiKeyCache, close: async () => {} }
  opened.defer(keys.close)
  const redis = serves && config.redisUrl ? await connectRedis(config.redisUrl, log) : undefined
  opened.defer(() => redis?.disconnect())
  const mailer = createMailer(config.smtpUrl)
  opened.defer(mailer.close)
  signal?.throwIfAborted()
  const boss = await startQueue(database.url, log, { works, migrates })
  opened.defer(() => boss.stop({ graceful: true, timeout: MAIL_GRACE_MS }))
  const metrics = createMetrics()
  metrics.observe(pool, db)
  const deps: Deps = {
    apiKeyCache: keys.cache,
    queue: asDomainQueue(boss),
    invitationUrl: (invite) => invitationUrl(mailSettings, invite),
    clock,
    newId: () => uuidv7(),
    log,
    metrics,
  }
  const system: ServiceContext = { actor: { kind: 'system' }, db, deps }
  const kept = opened.move()
  return {
    system,
    mailer,
    mailSettings,
    metrics,
    redis,
    migrated: database.migrated,
    findProblems: coalesce(() => findProblems(system, boss, migrations)),
    startWork: async () => {
      if (works) await startWork(boss, system, mailer, mailSettings, config)
    },
    dispose: () => kept.disposeAsync(),
  }
}

async function startWork(
  boss: PgBoss,
  system: ServiceContext,
  mailer: Mailer,
  settings: MailSettings,
  { deliverTestMail }: Config,
): Promise<void> {
  await workSweep(boss, system)
  await workInvitationEmails(boss, system, async (email) => {
    const message = renderInvitation(settings, email)
    const captured = !mailer.delivers || (email.invite.mode === 'test' && !deliverTestMail)
    if (captured) return { state: 'captured' }
    const refusal = await mailer.send(message)
    return refusal === null ? { state: 'sent' } : { state: 'failed', failure: 'refused', reason: refusal }
  })
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

async function findProblems({ db }: ServiceContext, boss: PgBoss, migrations: string[]): Promise<string[]> {
  const checks: [string, () => Promise<unknown>][] = [
    ['database', () => db.$queryRaw`SELECT 1`],
    [
      'migrations',
      async () => {
        if (!(await hasMigrations(db, migrations))) throw new Error('some are missing')
      },
    ],
    [
      'queue',
      async () => {
        if (!(await boss.isInstalled())) throw new Error('not installed')
      },
    ],
  ]
  const results = await Promise.allSettled(checks.map(([, check]) => Promise.race([check(), runOutOfTime()])))
  return checks.flatMap(([name], i) => (results[i]!.status === 'rejected' ? [name] : []))
}

/** A check that takes this long is a problem too, and whoever asks waits no longer. */
async function runOutOfTime(): Promise<never> {
  await sleep(CHECK_TIMEOUT_MS, undefined, { ref: false })
  throw new Error('no answer in time')
}

/**
 * Requests do not wait for Redis: while it is away, each process counts by itself (http/rate-limit.ts). The start does, until it is
 * known to be there or not, so that the first requests are counted with the others.
 */
async function connectRedis(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: REDIS_TIMEOUT_MS,
    // A connection that is taken but never answered is no connection: another one is tried.
    socketTimeout: REDIS_TIMEOUT_MS,
    // Not sooner: one that is only slow would be given up, and taken back, many times a second.
    retryStrategy: () => REDIS_RETRY_MS,
  })
  let away = false
  let reason: Error | undefined // none where Redis itself has closed the connection
  redis.on('error', (error) => {
    reason = error
  })
  redis.on('reconnecting', () => {
    if (!away) log.warn({ err: reason }, 'Redis is away: this process counts requests by itself')
    away = true
  })
  redis.on('ready', () => {
    if (away) log.info('Redis is back: requests are counted over all processes')
    away = false
    reason = undefined
  })
  await once(redis, 'ready').catch(() => {})
  return redis
}
