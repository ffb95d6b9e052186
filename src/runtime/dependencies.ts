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
import { resealAtsKeys } from '../domain/ats/keys.ts'
import { coalesce } from '../domain/concurrency/coalesce.ts'
import type { Deps, ServiceContext } from '../domain/context.ts'
import type { MailEventReaders } from '../domain/mails/mail-events.ts'
import { hastenMailProbe } from '../domain/mails/mail-outage.ts'
import { resealTotpSecrets } from '../domain/sign-in/totp-secrets.ts'
import { resealClientSecrets } from '../domain/single-sign-on/provider-secrets.ts'
import { resealSecrets } from '../domain/webhooks/secrets.ts'
import { createLinks, type SiteConfig } from '../http/addresses/links.ts'
import { writeReport } from '../interfaces/ats/index.ts'
import { startArchiving } from '../jobs/archives.ts'
import { startCorrectingKeys } from '../jobs/correct-keys.ts'
import { startDeletingTestData } from '../jobs/delete-test-data.ts'
import { startErasing } from '../jobs/erase.ts'
import { startWorkingOnInvites } from '../jobs/invite-batches.ts'
import { startJoiningRecordings } from '../jobs/join-recordings.ts'
import { createNumbering, type Numbering } from '../jobs/number-events.ts'
import { asDomainQueue, startQueue } from '../jobs/queue.ts'
import { startReadingMailEvents } from '../jobs/read-mail-events.ts'
import { startSendingInvitations } from '../jobs/send-invitations.ts'
import { startSendingMemberEmails } from '../jobs/send-member-emails.ts'
import { startSuspensionWorker } from '../jobs/suspension.ts'
import { startSweep } from '../jobs/sweep.ts'
import { kinds } from '../kinds/index.ts'
import { type Languages, shippedLanguages } from '../locales/languages.ts'
import { createMailer, type Mailer } from '../mail/mailer.ts'
import type { MailSettings } from '../mail/message.ts'
import { remuxInProcess } from '../media/join.ts'
import { openMediaStore } from '../media/store.ts'
import { createTypesetting } from '../reports/typeset.ts'
import { createBreachedPasswords } from '../sso/breached-passwords.ts'
import { createIdentityProviders } from '../sso/identity-providers.ts'
import { createPost } from '../webhooks/post.ts'
import { startReports } from '../webhooks/reports.ts'
import { startWebhooks } from '../webhooks/worker.ts'
import type { Config } from './config.ts'
import { openDatabase, openDb } from './database.ts'
import { candidateMailRules, createMailLine, deliverInvitationsWith, deliverMemberEmailsWith } from './deliver-mail.ts'
import { openErasureLog } from './erasure-log.ts'
import { openMailEvents } from './mail-events.ts'
import { measureStore } from './measured-store.ts'
import { createMediaCheck } from './media-check.ts'
import { createMetrics, type MetricsRegistry } from './metrics.ts'
import { createNewId } from './new-id.ts'
import { type Check, findProblems } from './readiness.ts'
import { claimSecretKey, readOrMakeSecret } from './secret.ts'
import { smtpSettings } from './smtp-settings.ts'
import { startTracing, traceStatements } from './trace.ts'
import { createWriteCheck } from './write-check.ts'

/** What the service runs on. */
export type Dependencies = {
  /** The service acting by itself. */
  system: ServiceContext
  log: FastifyBaseLogger
  /** With PORT=0 the address in the links is known only when the service listens; it is set then, before any work. */
  site: SiteConfig
  /** What candidates and the readers of mails are spoken to in. */
  languages: Languages
  mailSettings: MailSettings
  /** Who may tell what became of mails. */
  mailEventReaders: MailEventReaders
  metrics: MetricsRegistry
  redis: Redis | undefined
  /** Numbers events, where this process serves; followers of the feed ask it to tell them. */
  numbering: Numbering
  /** The names of the migrations that were applied to get here. */
  migrated: string[]
  /** Why requests should not be sent here now; empty when all is well. */
  findProblems: () => Promise<string[]>
  /** Begins to send mails and to sweep, where that is this process's role. */
  startWork: () => Promise<void>
  /** Has the scheduled sweep run in this process, if it works: it sends nothing, so that it need not wait for the port. */
  startSweep: () => Promise<void>
  /** Lets the mails under way finish, then closes everything in the reverse order of its making. */
  dispose: () => Promise<void>
}

type Choices = {
  /** false: a process that does one thing and ends, like the command line: it queues mails but sends none, and remembers no keys. */
  serves?: boolean
  /** false: a database that is not up to date is refused, and nothing in it is changed. */
  migrates?: boolean
  /** true where the secret key need not be the one that the database was used with: it takes that one's place. */
  replacesSecretKey?: boolean
  /** The time, where it is not the system's. */
  clock?: () => Date
  /** Where they are not those that come with the service. */
  languages?: Languages
  /** Aborted when the process is told to stop: then nothing more is waited for or begun. */
  signal?: AbortSignal
}

/** Milliseconds that a mail under way has to finish when the service stops. */
const MAIL_GRACE_MS = 4_000

/**
 * Opens the database, the queue and the way to the mail server. When it fails, nothing stays open.
 *
 * @throws Error when the database can't be reached within a minute, or is not, and can't be, brought up to date.
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
    signal,
  }: Choices = {},
): Promise<Dependencies> {
  await using opened = new AsyncDisposableStack()
  const works = serves && config.role !== 'api'
  // Read now, because a release that is installed over this one changes the files while this one still runs.
  const migrations = (await readMigrations()).map(({ name }) => name)
  const database = await openDatabase(config, log, opened, { migrates, signal })
  const secretKeys = config.secretKeys ?? [await readOrMakeSecret(database.folder)]
  const site: SiteConfig = { publicUrl: config.publicUrl, secretKeys }
  const mailSettings = { links: createLinks(site), mailFrom: config.mailFrom, languages, kinds }
  if (serves) opened.defer(startTracing(config, log).close)
  const metrics = createMetrics()
  const ways = { direct: database.url, serves, works }
  const { pool, db, jobs } = await openDb(config, { log, onAway: metrics.databaseAway }, opened, ways)
  const keys = serves ? createApiKeyCache(database.url, log) : { cache: noApiKeyCache, close: async () => {} }
  opened.defer(keys.close)
  await claimSecretKey({ db }, secretKeys, { replaces: replacesSecretKey })
  if (serves && config.traces) traceStatements(pool)
  const redis = serves && config.redisUrl ? await openRedis(config.redisUrl, log) : undefined
  opened.defer(() => redis?.disconnect())
  const mailer = createMailer(smtpSettings(config))
  opened.defer(mailer.close)
  signal?.throwIfAborted()
  const numbering = createNumbering()
  opened.defer(numbering.stop) // after the mails under way, so that they are told of too
  const boss = await openQueue(jobs, log, { works, migrates, direct: database.url })
  opened.defer(() => boss.stop({ graceful: true, timeout: MAIL_GRACE_MS }))
  metrics.observe(pool, db)
  metrics.observeQueues(boss)
  metrics.observeFallback(() => redis !== undefined && redis.status !== 'ready')
  const media = measureStore(await openMediaStore(config), metrics.mediaOperation)
  metrics.observeMedia(media)
  const replica = serves && config.role !== 'worker' ? openReplicas(config, db, { log, metrics, opened }) : undefined
  const deps: Deps = {
    apiKeyCache: keys.cache,
    queue: asDomainQueue(boss),
    events: numbering,
    replica: () => replica?.current(),
    media,
    mediaQuota: config.mediaQuota,
    ...candidateSettings(mailer, config),
    links: mailSettings.links,
    site,
    ...filesMade(clock),
    secretKeys,
    ...waysOut(config, { clock, log, metrics }),
    ats: config.ats,
    languages,
    clock,
    newId: createNewId(),
    kinds,
    random: randomInt,
    log,
    metrics,
    traffic: { answeredAt: -Infinity },
  }
  const system: ServiceContext = { actor: { kind: 'system' }, db, deps }
  if (serves) await numbering.start(system)
  const own: Check[] = [['writes', createWriteCheck(db, log)]]
  // Where candidates answer elsewhere there is nothing to keep.
  if (config.playerUrl === undefined) own.push(['media', createMediaCheck(deps.media, log)])
  const { mailEventReaders, fetchBounces } = openMailEvents(config.bounces, { system, site, opened })
  const kept = opened.move()
  return {
    system,
    log,
    site,
    languages,
    mailSettings,
    mailEventReaders,
    metrics,
    redis,
    numbering,
    migrated: database.migrated,
    findProblems: coalesce(() => findProblems(system, boss, migrations, own)),
    startSweep: async () => {
      if (works) await startSweep(boss, system, { ...config, fetchBounces })
    },
    startWork: async () => {
      if (works) await startWork(config, kept, { system, boss, mailer, mailSettings, mailEventReaders, numbering })
    },
    dispose: () => kept.disposeAsync(),
  }
}

const candidateSettings = (mailer: Mailer, config: Config): Pick<Deps, 'hasOwnPlayer' | 'candidateMails'> => ({
  hasOwnPlayer: config.playerUrl === undefined,
  candidateMails: candidateMailRules(mailer, config),
})

function openReplicas(
  { databaseReadUrls: urls, databasePoolSize: poolSize }: Config,
  db: Db,
  { log, metrics, opened }: { log: FastifyBaseLogger; metrics: MetricsRegistry; opened: AsyncDisposableStack },
) {
  if (urls.length === 0) return undefined
  const replica = watchReplicas(urls, db, log, { poolSize })
  opened.defer(replica.close)
  metrics.observeReplica(replica.lateness)
  return replica
}

/** What makes files of what the domain knows. */
const filesMade = (clock: () => Date): Pick<Deps, 'typesetReport' | 'writeArchive'> => ({
  typesetReport: createTypesetting(clock),
  writeArchive,
})

/** Where the service asks, or tells, besides mail; and what is told outside of the database of who is erased. */
const waysOut = (
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

type Workplace = Pick<Dependencies, 'system' | 'mailSettings' | 'mailEventReaders' | 'numbering'> & {
  boss: PgBoss
  mailer: Mailer
}

async function startWork(config: Config, kept: AsyncDisposableStack, at: Workplace): Promise<void> {
  const { system, boss, mailer, mailSettings, mailEventReaders, numbering } = at
  await hastenMailProbe(system)
  const line = createMailLine(system, mailer, config.smtp)
  kept.defer(async () => line.close())
  const invitations = deliverInvitationsWith(mailer, mailSettings, config)
  await startSendingInvitations(boss, system, { deliver: invitations, line, ceilings: config.mailCeilings })
  await startReadingMailEvents(boss, system, mailEventReaders)
  await startWorkingOnInvites(boss, system)
  await startDeletingTestData(boss, system)
  await startErasing(boss, system)
  await startSuspensionWorker(boss, system)
  await startArchiving(boss, system)
  await startCorrectingKeys(boss, system)
  await startJoiningRecordings(boss, system, remuxInProcess, config.joiners)
  await startSendingMemberEmails(boss, system, { deliver: deliverMemberEmailsWith(mailer, mailSettings), line })
  await resealSecrets(system)
  await resealAtsKeys(system)
  await resealTotpSecrets(system)
  await resealClientSecrets(system)
  const post = createPost(config.webhookAllowance)
  const webhooks = startWebhooks(system, post, config.webhookConcurrency)
  kept.defer(webhooks.stop)
  numbering.follow(webhooks.wake)
  if (enabledSystems(system).length === 0) return
  const reports = startReports(system, post, writeReport)
  kept.defer(reports.stop)
  numbering.follow(reports.wake)
}

/** To bring it up to date may take longer than a session behind a pooler allows. */
async function openQueue(
  { url, options }: { url: string; options?: string },
  log: FastifyBaseLogger,
  { works, migrates, direct }: { works: boolean; migrates: boolean; direct: string },
): Promise<PgBoss> {
  if (url === direct) return startQueue(url, log, { works, migrates, options })
  const upToDate = await startQueue(direct, log, { works: false, migrates })
  await upToDate.stop()
  return startQueue(url, log, { works, migrates: false })
}

/** Redis' client is a large module, and most services do without it. */
async function openRedis(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const { connectRedis } = await import('./redis.ts')
  return connectRedis(url, log)
}
