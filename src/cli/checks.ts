import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { createDb, type Db, openPool } from '../db/client.ts'
import { chooseHome } from '../db/embedded-files.ts'
import { findPendingMigrations } from '../db/migrate.ts'
import { measureFailedMemberEmails, measureMemberEmailQueue } from '../domain/access/member-emails.ts'
import { measureNumbering } from '../domain/events/number.ts'
import { type FailedEmails, measureEmailQueue, measureFailedEmails } from '../domain/invites/emails.ts'
import { readMailOutage } from '../domain/mail-server.ts'
import { countFailedRecordings } from '../domain/submissions/media.ts'
import { measureWebhooks } from '../domain/webhooks/measure.ts'
import { createMailer } from '../mail/mailer.ts'
import { findWayToLimit } from '../media/limit-process.ts'
import { openMediaStore } from '../media/store.ts'
import { type Config, lacksTrustedProxy } from '../runtime/config.ts'
import { MIN_SECRET_LENGTH } from '../runtime/environment.ts'
import { secretFile } from '../runtime/secret.ts'
import { smtpSettings } from '../runtime/smtp-settings.ts'
import { describeError } from './output.ts'

/** One thing looked at; where it is a problem the message says what to do. */
export type Check = { name: string; problem: boolean; message: string }

/** A mail server that is away for a moment is no problem yet. */
const PATIENCE_MS = 15 * 60_000
/** A running service needs a second. */
const NUMBERING_PATIENCE_MS = 60_000
const PROXY_ANSWERS_WITHIN_MS = 3_000
/** What failed before is history: who wanted to has acted on it. */
const RECENT_MS = 86_400_000

const ok = (name: string, message: string): Check => ({ name, problem: false, message })
const problem = (name: string, message: string): Check => ({ name, problem: true, message })

/** Whether the database answers, is up to date, folds case as we need it, and how its mails and events are doing. */
export async function checkDatabase(url: string): Promise<Check[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // the query in flight rejects with it
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT current_setting('server_version') AS version, lower('É') = 'é' AS folds`)
    const locale = rows[0].folds ? ok('locale', 'names are compared whatever their case') : problem('locale', BAD_LOCALE)
    return [ok('database', `PostgreSQL ${rows[0].version} answers`), locale, ...(await checkSchema(url))]
  } catch (error) {
    return [problem('database', `${describeError(error)}. Is it running, and is DATABASE_URL right?`)]
  } finally {
    await client.end()
  }
}

const BAD_LOCALE =
  'names that differ in the case of letters like É count as different. Create the database anew: CREATE DATABASE … TEMPLATE template0 LOCALE_PROVIDER builtin BUILTIN_LOCALE "C.UTF-8"'

async function checkSchema(url: string): Promise<Check[]> {
  const pending = await findPendingMigrations(url).catch(describeError)
  if (typeof pending === 'string') return [problem('migrations', pending)]
  if (pending.length > 0) {
    return [problem('migrations', `${pending.join(', ')} pending. Start the service, or run: npm run cli -- migrate`)]
  }
  return [ok('migrations', 'none pending'), ...(await checkContent(url))]
}

async function checkContent(url: string): Promise<Check[]> {
  const db = createDb(openPool(url, { max: 1 }))
  try {
    return [
      await checkOutage(db),
      await checkQueue(db),
      await checkFailedMails(db),
      await checkNumbering(db),
      await checkWebhooks(db),
      await checkRecordings(db),
    ]
  } catch (error) {
    return [problem('content', describeError(error))]
  } finally {
    await db.$disconnect()
  }
}

async function checkOutage(db: Db): Promise<Check> {
  const outage = await readMailOutage(db)
  if (!outage) return ok('mail', 'the mail server takes mails, as far as is known')
  const { since, about, reason, probes, nextProbeAt } = outage
  const told = `${OUTAGES[about]} since ${since.toISOString()}: ${reason.replace(/\s+/g, ' ')}`
  return problem(
    'mail',
    `${told}. All mails wait; ${probes} were tried since, the next after ${nextProbeAt.toISOString()}. When it is mended: npm run cli -- mail retry --waiting`,
  )
}

const OUTAGES = {
  unreachable: 'the mail server can not be reached',
  rejecting: 'the mail server turns this service away',
  throttled: 'the mail server wants fewer mails than there are',
}

async function checkQueue(db: Db): Promise<Check> {
  const queues = [await measureEmailQueue({ db }), await measureMemberEmailQueue({ db })]
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0)
  const [oldest] = queues.flatMap((queue) => queue.oldest ?? []).sort((a, b) => a.getTime() - b.getTime())
  if (!oldest) return ok('queue', 'no mail waits')
  const since = `${waiting} waiting, the oldest since ${oldest.toISOString()}`
  if (Date.now() - oldest.getTime() < PATIENCE_MS) return ok('queue', since)
  return problem('queue', `${since}. Is the service running? For the reasons: npm run cli -- mail list --state queued`)
}

/**
 * A recipient that is refused and a link that was dead before its mail went out are the organization's affair. A server that could not be
 * reached for all the retries, or that refuses more than it takes, is the operator's.
 */
async function checkFailedMails(db: Db): Promise<Check> {
  const since = new Date(Date.now() - RECENT_MS)
  const [toCandidates, toMembers] = [await measureFailedEmails({ db }, since), await measureFailedMemberEmails({ db }, since)]
  const sum = (count: keyof FailedEmails) => toCandidates[count] + toMembers[count]
  const [failed, refused, givenUp, sent] = [sum('failed'), sum('refused'), sum('givenUp'), sum('sent')]
  if (failed === 0) return ok('mails', 'none failed')
  const counts = `${failed} failed in all; in the last day ${refused} were refused, ${givenUp} given up and ${sent} sent`
  const reasons = 'For the reasons: npm run cli -- mail list --state failed'
  const isForOperator = givenUp > 0 || (refused > 1 && refused > sent)
  if (!isForOperator) return ok('mails', `${counts}. ${reasons}`)
  return problem('mails', `${counts}. ${reasons}; to send them again: npm run cli -- mail retry --all`)
}

async function checkNumbering(db: Db): Promise<Check> {
  const { oldest } = await measureNumbering({ db })
  if (!oldest || Date.now() - oldest.getTime() < NUMBERING_PATIENCE_MS) return ok('events', 'all are in the feed')
  const since = `some have waited to be put into the feed since ${oldest.toISOString()}`
  return problem('events', `${since}. Is the service running? If it is, its log says why: events can not be numbered`)
}

/** That endpoints fail is their organizations' affair; that nothing is sent is the operator's. */
async function checkWebhooks(db: Db): Promise<Check> {
  const { oldestDue, failing, disabled } = await measureWebhooks({ db }, new Date())
  const counts = `${failing} failing, ${disabled} disabled for it. To see them: npm run cli -- webhook list <organization>`
  if (oldestDue && Date.now() - oldestDue.getTime() >= PATIENCE_MS)
    return problem(
      'webhooks',
      `events have been waiting since ${oldestDue.toISOString()}. Is a process with ROLE all or worker running?`,
    )
  return ok('webhooks', failing + disabled === 0 ? 'all are well' : counts)
}

async function checkRecordings(db: Db): Promise<Check> {
  const failed = await countFailedRecordings({ db })
  if (failed === 0) return ok('recordings', 'all that are complete could be joined, or will be')
  return problem(
    'recordings',
    `${failed} could not be joined; their parts are kept. The log says why: a recording can not be joined. When that is mended: npm run cli -- media retry --all`,
  )
}

/** Candidates can't follow a link to a machine of their own. */
export function checkPublicAddress({ publicUrl, smtp }: Config): Check {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(publicUrl).hostname)
  if (isLocal && smtp.url)
    return problem('links', `mails go out with links to ${publicUrl}: set PUBLIC_URL to the public address`)
  return ok('links', `lead to ${publicUrl}`)
}

/** Whether the proxy in front of the running service, if there is one, is trusted: asked as candidates do. */
export async function checkProxy(config: Config): Promise<Check> {
  const advice = 'Set TRUST_PROXY to its address, or all its clients count as one, and some lock out the others'
  try {
    const answer = await fetch(`${config.publicUrl}/readyz`, { signal: AbortSignal.timeout(PROXY_ANSWERS_WITHIN_MS) })
    const { untrustedProxy } = (await answer.json()) as { untrustedProxy?: boolean }
    if (untrustedProxy) return problem('proxy', `requests come through one that is not trusted. ${advice}`)
    return ok('proxy', `${config.publicUrl} is reached without one, or by one that is trusted`)
  } catch (error) {
    const guess = lacksTrustedProxy(config) ? `; HTTPS needs a proxy, and none is trusted. ${advice}` : ''
    return ok('proxy', `not tried, ${config.publicUrl} does not answer here: ${describeError(error)}${guess}`)
  }
}

/** Where the links' secret comes from. */
export async function checkSecret({ secretKeys, dataDir }: Config): Promise<Check> {
  if (secretKeys)
    return ok('secret', secretKeys.length === 1 ? 'SECRET_KEY' : `SECRET_KEY, the first of ${secretKeys.length} signs`)
  const file = secretFile(await chooseHome(dataDir).catch(() => dataDir)) // the database's check tells what is wrong
  const secret = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH) return ok('secret', file)
  if (typeof secret === 'string')
    return problem('secret', `${file} holds no secret: delete it, and a new one is made at the next start`)
  return secret.code === 'ENOENT' ? ok('secret', `${file} is made at the first start`) : problem('secret', secret.message)
}

/** Connects to the mail server, without sending. */
export async function checkMailServer(config: Config): Promise<Check> {
  const mailer = createMailer(smtpSettings(config), { patience: DOCTORS_PATIENCE })
  if (!mailer.delivers) return ok('mail server', 'none: mails are captured')
  const { host } = new URL(config.smtp.url!)
  try {
    await mailer.verify()
    return ok('mail server', `${host} answers`)
  } catch (error) {
    return problem('mail server', `${host}: ${describeError(error)}. ${adviceOn(error as Error)}`)
  } finally {
    mailer.close()
  }
}

/** Milliseconds. A server that takes longer may still take mails: the service waits for as long as RFC 5321 has it. */
const DOCTORS_PATIENCE = { command: 20_000, end: 20_000 }

/** Which setting has to do with it. */
function adviceOn({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as { code?: string }
  if (code === 'EAUTH') return 'Check user and password in SMTP_URL'
  if (code === 'ENOAUTH') return 'Check SMTP_URL'
  if (code === 'ETLS' || /certificate|altnames/i.test(message))
    return 'Name the certificate, or that of its authority, in NODE_EXTRA_CA_CERTS; or add ?tls.servername=… to SMTP_URL, where the name differs. With no encryption there: SMTP_SECURITY=opportunistic'
  return 'Check SMTP_URL, and whether the server lets this machine in'
}

export async function checkRedis(url: string): Promise<Check> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 3_000, retryStrategy: () => null })
  let reason: unknown
  redis.on('error', (error) => {
    reason = error
  })
  try {
    await redis.connect()
    return ok('Redis', 'answers')
  } catch (error) {
    return problem(
      'Redis',
      `${describeError(reason ?? error)}. Check REDIS_URL; until then each process counts requests by itself`,
    )
  } finally {
    redis.disconnect()
  }
}

/** Whether lists can be read from the replica, and how far it has come. */
export async function checkReplica(url: string): Promise<Check> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // the query in flight rejects with it
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT pg_is_in_recovery() AS follows, pg_last_xact_replay_timestamp() AS last`)
    if (!rows[0].follows) return problem('replica', 'DATABASE_READ_URL is no replica: it takes changes itself')
    return ok('replica', `follows; the last change it has is of ${rows[0].last?.toISOString() ?? 'before it was started'}`)
  } catch (error) {
    return problem('replica', `${describeError(error)}. Check DATABASE_READ_URL; until then lists are read from the database`)
  } finally {
    await client.end()
  }
}

/** How what joins recordings is kept from taking all memory and time. */
export async function checkJoining(): Promise<Check> {
  const way = await findWayToLimit()
  if (way === 'prlimit') return ok('joining', 'prlimit bounds what joins recordings')
  if (way !== null)
    return ok(
      'joining',
      `what joins recordings is looked at by ${way === 'proc' ? '/proc' : 'ps'}: install prlimit to bound it at once`,
    )
  return problem(
    'joining',
    'nothing bounds the memory and the time of what joins recordings: there is neither prlimit (of util-linux) nor /proc nor ps. Install one of them',
  )
}

/** Whether photos and recordings can be kept: puts a byte into the store, and takes it out. */
export async function checkMedia(config: Config): Promise<Check> {
  const where =
    config.mediaUrl === undefined ? 'the folder media under DATA_DIR' : `the bucket ${new URL(config.mediaUrl).hostname}`
  const key = `doctor/${randomUUID()}`
  try {
    const store = await openMediaStore(config)
    await store.put(key, Buffer.of(1))
    const content = await store.get(key)
    const isSame = content !== null && (await buffer(content)).equals(Buffer.of(1))
    await store.deletePrefix('doctor/')
    return isSame ? ok('media', `${where} keeps them`) : problem('media', `${where} does not give back what it was given`)
  } catch (error) {
    return problem(
      'media',
      `${where} can not keep them: ${describeError(error)}. Check MEDIA_URL and DATA_DIR, and their credentials and rights`,
    )
  }
}
