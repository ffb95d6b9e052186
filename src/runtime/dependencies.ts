import { randomInt } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Redis } from 'ioredis'
import type { PgBoss } from 'pg-boss'
import { writeArchive } from '../archives/write-archive.ts'
import type { Db } from '../db/client.ts'
import { readMigrations } from '../db/migrations.ts'
import { watchReplicas } from '../db/replica.ts'
import { createApiKeyCache, noApiKeyCache } from '../domain/api-keys/api-key-cache.ts'
import { enabledSystems } from '../domain/ats/connections.ts'
import { reencryptAtsKeys } from '../domain/ats/keys.ts'
import { singleFlight } from '../domain/concurrency/single-flight.ts'
import type { Deps, ServiceContext } from '../domain/context.ts'
import type { MailEventReaders } from '../domain/mails/mail-events.ts'
import { bringMailProbeForward } from '../domain/mails/mail-outage.ts'
import { PASSWORD_COST } from '../domain/sign-in/passwords.ts'
import { reencryptTotpSecrets } from '../domain/sign-in/totp-secrets.ts'
import { reencryptClientSecrets } from '../domain/single-sign-on/provider-secrets.ts'
import { reencryptWebhookSecrets } from '../domain/webhooks/secrets.ts'
import { createLinks, type SiteConfig } from '../http/addresses/links.ts'
import { writeReport } from '../interfaces/ats/index.ts'
import { startErasureWorkers } from '../jobs/erasure-workers.ts'
import { createEventSequencer, type EventSequencer } from '../jobs/event-sequencer.ts'
import { startInvitationWorkers } from '../jobs/invitation-workers.ts'
import { startMailEventWorker } from '../jobs/mail-event-worker.ts'
import { startMemberEmailWorkers } from '../jobs/member-email-workers.ts'
import { createDomainQueue, startQueue } from '../jobs/queue.ts'
import { startRecordingWorkers } from '../jobs/recording-workers.ts'
import { startRegistrationWorkers } from '../jobs/registration-workers.ts'
import { startSerialWorkers } from '../jobs/serial-workers.ts'
import { startSweep } from '../jobs/sweep.ts'
import { startTranscriptionWorkers } from '../jobs/transcription-workers.ts'
import { kinds } from '../kinds/index.ts'
import { type Languages, shippedLanguages } from '../locales/languages.ts'
import { createMailer, type Mailer } from '../mail/mailer.ts'
import type { MailSettings } from '../mail/message.ts'
import { extractSoundInProcess } from '../media/extract-sound-in-process.ts'
import { measureLevelsInProcess } from '../media/levels-in-process.ts'
import { remuxInProcess } from '../media/remux-in-process.ts'
import { createFileScanner } from '../media/scan-file.ts'
import { openMediaStore } from '../media/store.ts'
import { createTranscriber } from '../media/transcriber.ts'
import { createTypesetter } from '../reports/typeset.ts'
import { createBreachedPasswords } from '../sso/breached-passwords.ts'
import { createIdentityProviders } from '../sso/identity-providers.ts'
import { createPost } from '../webhooks/post.ts'
import { startReports } from '../webhooks/start-reports.ts'
import { startWebhooks } from '../webhooks/start-webhooks.ts'
import type { Config } from './config.ts'
import { openDatabase, openDb } from './database.ts'
import {
  candidateMailRules,
  createInvitationDelivery,
  createMemberEmailDelivery,
  createRegistrationDelivery,
  createServiceMailDispatcher,
} from './deliver-mail.ts'
import { openErasureLog } from './erasure-log.ts'
import { setUpMailEvents } from './mail-events.ts'
import { measureStore } from './measure-store.ts'
import { createMediaCheck } from './media-check.ts'
import { createMetrics, type MetricsRegistry } from './metrics.ts'
import { createNewId } from './new-id.ts'
import { findProblems, type ReadinessCheck } from './readiness.ts'
import { claimSecretKey, loadOrCreateSecret } from './secret.ts'
import { toSmtpSettings } from './smtp-settings.ts'
import { startTracing, traceStatements } from './trace.ts'
import { release } from './version.ts'
import { createWriteCheck } from './write-check.ts'

export type Dependencies = {
  /** Context of the service itself. */
  system: ServiceContext
  log: FastifyBaseLogger
  /** With PORT=0 the port, and so the public URL, is set when the service listens, before any work starts. */
  site: SiteConfig
  /** Languages of the candidates' pages and of all mails. */
  languages: Languages
  mailSettings: MailSettings
  /** Readers of bounces and delivery reports, by provider. */
  mailEventReaders: MailEventReaders
  metrics: MetricsRegistry
  redis: Redis | undefined
  /** Numbers events if this process serves, and notifies the followers of the feed. */
  sequencer: EventSequencer
  /** Names of the migrations applied by this start. */
  migrated: string[]
  /** Reasons why this process is not ready; empty if it is. */
  findProblems: () => Promise<string[]>
  /** Starts sending mails and running jobs, unless ROLE is api. */
  startWork: () => Promise<void>
  /** Starts the scheduled sweep, unless ROLE is api. It sends nothing, so it need not wait for the port. */
  startSweep: () => Promise<void>
  /** Waits for mails in progress, then closes everything in reverse order of creation. */
  dispose: () => Promise<void>
}

type DependencyOptions = {
  /** false for a single command: it queues mails without sending them, and caches no API keys. */
  serves?: boolean
  /** false to refuse an outdated database instead of migrating it. */
  migrates?: boolean
  /** true to replace the secret key that the database was used with. */
  replacesSecretKey?: boolean
  clock?: () => Date
  languages?: Languages
  passwordCost?: Deps['passwordCost']
  /** Aborted when the process is told to stop: startup then ends. */
  signal?: AbortSignal
}

/** Milliseconds for mails in progress to finish when the service stops. */
const MAIL_GRACE_MS = 4_000

/**
 * Connects to the database, the job queue, and the other services. If that fails, nothing stays open.
 *
 * @throws Error if the database can't be reached within a minute, or is outdated and can't be migrated.
 */
export async function createDependencies(
  config: Config,
  log: FastifyBaseLogger,
  {
    serves = true,
    migrates = true,
    replacesSecretKey = false,
    clock = () => new Date(),
    languages = shippedLanguages,
    passwordCost = PASSWORD_COST,
    signal,
  }: DependencyOptions = {},
): Promise<Dependencies> {
  await using stack = new AsyncDisposableStack()
  const works = serves && config.role !== 'api'
  // Read now: installing a newer release changes the files while this process still runs.
  const migrations = (await readMigrations()).map(({ name }) => name)
  const database = await openDatabase(config, log, stack, { migrates, signal })
  const secretKeys = config.secretKeys ?? [await loadOrCreateSecret(database.folder)]
  const site: SiteConfig = { publicUrl: config.publicUrl, secretKeys }
  const mailSettings = { links: createLinks(site), mailFrom: config.mailFrom, languages, kinds }
  if (serves) stack.defer(startTracing(config, log).close)
  const metrics = createMetrics()
  const role = { direct: database.url, serves, works }
  const { pool, db, jobs } = await openDb(config, { log, onAway: metrics.databaseUnavailable }, stack, role)
  const keys = serves ? createApiKeyCache(database.url, log) : { cache: noApiKeyCache, close: async () => {} }
  stack.defer(keys.close)
  await claimSecretKey({ db }, secretKeys, { replaces: replacesSecretKey })
  if (serves && config.traces) traceStatements(pool)
  const redis = serves && config.redisUrl ? await openRedis(config.redisUrl, log) : undefined
  stack.defer(() => redis?.disconnect())
  const mailer = createMailer(toSmtpSettings(config))
  stack.defer(mailer.close)
  signal?.throwIfAborted()
  const sequencer = createEventSequencer()
  stack.defer(sequencer.stop) // after the mails in progress, so that their events are numbered
  const boss = await openQueue(jobs, log, { works, migrates, direct: database.url })
  stack.defer(() => boss.stop({ graceful: true, timeout: MAIL_GRACE_MS }))
  metrics.observeDatabase(pool, db)
  metrics.observeQueues(boss)
  metrics.observeFallback(() => redis !== undefined && redis.status !== 'ready')
  const media = measureStore(await openMediaStore(config), metrics.mediaOperation)
  metrics.observeMedia(media)
  const replica = serves && config.role !== 'worker' ? openReplicas(config, db, { log, metrics, opened: stack }) : undefined
  const deps: Deps = {
    release,
    apiKeyCache: keys.cache,
    queue: createDomainQueue(boss),
    events: sequencer,
    replica: () => replica?.current(),
    media,
    mediaQuota: config.mediaQuota,
    transcriber: config.transcription && createTranscriber(config.transcription),
    ...candidateSettings(mailer, config),
    links: mailSettings.links,
    site,
    ...createFileWriters(clock),
    secretKeys,
    ...createOutboundClients(config, { clock, log, metrics }),
    ats: config.ats,
    languages,
    passwordCost,
    clock,
    newId: createNewId(),
    kinds,
    random: randomInt,
    log,
    metrics,
    traffic: { answeredAt: -Infinity },
  }
  const system: ServiceContext = { actor: { kind: 'system' }, db, deps }
  if (serves) await sequencer.start(system)
  const checks: ReadinessCheck[] = [['writes', createWriteCheck(db, log)]]
  // With PLAYER_URL candidates answer elsewhere, and no media are stored.
  if (config.playerUrl === undefined) checks.push(['media', createMediaCheck(deps.media, log)])
  const { mailEventReaders, fetchBounces } = setUpMailEvents(config.bounces, { system, site, opened: stack })
  const disposables = stack.move()
  return {
    system,
    log,
    site,
    languages,
    mailSettings,
    mailEventReaders,
    metrics,
    redis,
    sequencer,
    migrated: database.migrated,
    findProblems: singleFlight(() => findProblems(system, boss, migrations, checks)),
    startSweep: async () => {
      if (works) await startSweep(boss, system, { ...config, fetchBounces })
    },
    startWork: async () => {
      if (works) await startWork(config, disposables, { system, boss, mailer, mailSettings, mailEventReaders, sequencer })
    },
    dispose: () => disposables.disposeAsync(),
  }
}

const candidateSettings = (mailer: Mailer, config: Config): Pick<Deps, 'hasOwnPlayer' | 'candidateMails' | 'openLinkMails'> => ({
  hasOwnPlayer: config.playerUrl === undefined,
  candidateMails: candidateMailRules(mailer, config),
  openLinkMails: config.openLinkMails,
})

function openReplicas(
  { databaseReadUrls: urls, databasePoolSize: poolSize }: Config,
  db: Db,
  { log, metrics, opened: stack }: { log: FastifyBaseLogger; metrics: MetricsRegistry; opened: AsyncDisposableStack },
) {
  if (urls.length === 0) return undefined
  const replica = watchReplicas(urls, db, log, { poolSize })
  stack.defer(replica.close)
  metrics.observeReplica(replica.lateness)
  return replica
}

const createFileWriters = (clock: () => Date): Pick<Deps, 'typesetReport' | 'writeArchive'> => ({
  typesetReport: createTypesetter(clock),
  writeArchive,
})

const createOutboundClients = (
  { webhookAllowance, ssoAllowance, operatorProviders, hibpUrl, erasureLog, backupsKeptDays }: Config,
  { clock, log, metrics }: { clock: () => Date; log: FastifyBaseLogger; metrics: MetricsRegistry },
): Pick<
  Deps,
  | 'webhookAllowance'
  | 'ssoAllowance'
  | 'identityProviders'
  | 'operatorProviders'
  | 'isBreached'
  | 'erasureLog'
  | 'backupsKeptDays'
> => ({
  erasureLog: openErasureLog(erasureLog),
  backupsKeptDays,
  webhookAllowance,
  ssoAllowance,
  identityProviders: createIdentityProviders(ssoAllowance, { clock, log }),
  operatorProviders,
  isBreached: createBreachedPasswords(hibpUrl, { log, metrics }),
})

type WorkerContext = Pick<Dependencies, 'system' | 'mailSettings' | 'mailEventReaders' | 'sequencer'> & {
  boss: PgBoss
  mailer: Mailer
}

async function startWork(config: Config, disposables: AsyncDisposableStack, context: WorkerContext): Promise<void> {
  const { system, boss, mailer, mailSettings, mailEventReaders, sequencer } = context
  await bringMailProbeForward(system)
  const dispatcher = createServiceMailDispatcher(system, mailer, config.smtp)
  disposables.defer(async () => dispatcher.close())
  const invitations = createInvitationDelivery(mailer, mailSettings, config)
  await startInvitationWorkers(boss, system, { deliver: invitations, dispatcher, ceilings: config.mailCeilings })
  await startMailEventWorker(boss, system, mailEventReaders)
  await startSerialWorkers(boss, system)
  await startErasureWorkers(boss, system)
  await startRecordingWorkers(boss, system, {
    remux: remuxInProcess,
    measureLevels: measureLevelsInProcess,
    scanFile: config.fileScanUrl === undefined ? undefined : createFileScanner(config.fileScanUrl),
    joiners: config.joiners,
  })
  await startTranscriptionWorkers(boss, system, extractSoundInProcess, config.transcription?.workers ?? 1)
  await startMemberEmailWorkers(boss, system, { deliver: createMemberEmailDelivery(mailer, mailSettings), dispatcher })
  await startRegistrationWorkers(boss, system, {
    deliver: createRegistrationDelivery(mailer, mailSettings, config),
    dispatcher,
  })
  await reencryptWebhookSecrets(system)
  await reencryptAtsKeys(system)
  await reencryptTotpSecrets(system)
  await reencryptClientSecrets(system)
  const post = createPost(config.webhookAllowance)
  const webhooks = startWebhooks(system, post, config.webhookConcurrency)
  disposables.defer(webhooks.stop)
  sequencer.onNewHead(webhooks.wake)
  if (enabledSystems(system).length === 0) return
  const reports = startReports(system, post, writeReport)
  disposables.defer(reports.stop)
  sequencer.onNewHead(reports.wake)
}

/** Migrates the queue past the pooler, because its sessions may have a statement timeout. */
async function openQueue(
  { url, options }: { url: string; options?: string },
  log: FastifyBaseLogger,
  { works, migrates, direct }: { works: boolean; migrates: boolean; direct: string },
): Promise<PgBoss> {
  if (url === direct) return startQueue(url, log, { works, migrates, options })
  const migrator = await startQueue(direct, log, { works: false, migrates })
  await migrator.stop()
  return startQueue(url, log, { works, migrates: false })
}

/** Loads the Redis client on demand: it is large, and most installations don't use it. */
async function openRedis(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const { connectRedis } = await import('./redis.ts')
  return connectRedis(url, log)
}
