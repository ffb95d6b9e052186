import { Client } from 'pg'
import { createDb, type Db, openPool } from '../db/client.ts'
import { findPendingMigrations } from '../db/migrate.ts'
import { hasSecretKey } from '../domain/concurrency/secret-fingerprint.ts'
import { findUnfinishedErasures } from '../domain/erasure/erase-again.ts'
import { findRestoredOrganizations } from '../domain/erasure/erase-restored-organizations.ts'
import { readReceiptLines } from '../domain/erasure/receipts.ts'
import { measureSequenceLag } from '../domain/events/sequence-events.ts'
import { measureBlockedEmails, measureEmailQueue, measureFailedEmails } from '../domain/invites/emails.ts'
import { readMailOutage } from '../domain/mails/mail-outage.ts'
import { measureFailedMemberEmails, measureMemberEmailQueue } from '../domain/mails/member-emails.ts'
import type { FailedEmails } from '../domain/mails/send-outcome.ts'
import { measureRegistrationQueue } from '../domain/open-links/registration-emails.ts'
import type { ErasureLog } from '../domain/ports/erasure-log.ts'
import { countFailedRecordings, listLargestMedia } from '../domain/submissions/media/media.ts'
import { formatBytes } from '../domain/text/format-bytes.ts'
import { listFailingOrganizations, measureWebhooks } from '../domain/webhooks/measure-webhooks.ts'
import type { Config } from '../runtime/config.ts'
import { WRONG_SECRET_KEY } from '../runtime/secret.ts'
import { type DoctorCheck, ok, problem } from './check-environment.ts'
import { checkIdentityProviders } from './check-identity-providers.ts'
import { describeUpgrade } from './describe-upgrade.ts'
import { describeError } from './output.ts'

/** Short outages of the mail server are normal. */
const MAIL_GRACE_MS = 15 * 60_000
/** Erasures wait for the media store, which may be away for a while. */
const ERASURE_GRACE_MS = 3_600_000
/** A running service numbers events within a second. */
const NUMBERING_GRACE_MS = 60_000
/** Older failures are not reported. */
const RECENT_MS = 86_400_000

type DatabaseCheckOptions = Pick<Config, 'mediaQuota' | 'ssoAllowance' | 'operatorProviders'> & {
  erasureLog: ErasureLog
  /** undefined before the first start. */
  secretKeys: readonly string[] | undefined
}

/** Checks that the database answers, is up to date, and folds case, and the state of mails, events, and other work. */
export async function checkDatabase(url: string, options: DatabaseCheckOptions): Promise<DoctorCheck[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // the query in flight rejects with it
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT current_setting('server_version') AS version, lower('É') = 'é' AS folds`)
    const locale = rows[0].folds ? ok('locale', 'searches ignore case') : problem('locale', LOCALE_ADVICE)
    return [
      ok('database', `PostgreSQL ${rows[0].version} answers`),
      locale,
      ...(await checkTimeouts(client)),
      ...(await checkSchema(url, options)),
    ]
  } catch (error) {
    return [problem('database', `${describeError(error)}. Is it running, and is DATABASE_URL right?`)]
  } finally {
    await client.end()
  }
}

const LOCALE_ADVICE =
  'letters like É are not folded, so an erasure may miss a name that a text has in another case. Create the database anew: CREATE DATABASE … TEMPLATE template0 LOCALE_PROVIDER builtin BUILTIN_LOCALE "C.UTF-8"'

/** Most milliseconds that commits should wait for a hanging standby, as in ops/ha/patroni.yml. */
const STANDBY_TIMEOUT_MS = 5_000
const STANDBY_TIMEOUTS = ['wal_sender_timeout', 'tcp_user_timeout']

/** Checks how long a hanging standby can block commits. */
async function checkTimeouts(client: Client): Promise<DoctorCheck[]> {
  const { rows: standbys } = await client.query(`SELECT FROM pg_stat_replication WHERE application_name <> 'pg_basebackup'`)
  if (standbys.length === 0) return []
  const { rows } = await client.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1) AND (setting::int = 0 OR setting::int > $2) ORDER BY name',
    [STANDBY_TIMEOUTS, STANDBY_TIMEOUT_MS],
  )
  const long = rows.map(({ name, setting }) => `${name} is ${setting === '0' ? "the system's" : `${Number(setting) / 1_000} s`}`)
  if (long.length === 0) return [ok('timeouts', 'a standby that hangs holds up commits for 5 s at most')]
  return [
    ok(
      'timeouts',
      `${long.join(', ')}: for so long a standby that hangs may hold up commits. 5s, as in ops/ha/patroni.yml, is enough`,
    ),
  ]
}

async function checkSchema(url: string, options: DatabaseCheckOptions): Promise<DoctorCheck[]> {
  const pending = await findPendingMigrations(url).catch(describeError)
  if (typeof pending === 'string') return [problem('migrations', pending)]
  if (pending.length > 0) {
    const upgrade = await describeUpgrade(pending)
    return [
      problem('migrations', `${pending.join(', ')} pending. Start the service, or run: npm run cli -- migrate`),
      ...(upgrade === '' ? [] : [ok('upgrade', upgrade)]),
    ]
  }
  return [ok('migrations', 'none pending'), ...(await checkContent(url, options))]
}

async function checkContent(
  url: string,
  { mediaQuota, erasureLog, secretKeys, ...checkOptions }: DatabaseCheckOptions,
): Promise<DoctorCheck[]> {
  const db = createDb(openPool(url, { max: 1 }))
  try {
    return [
      ...(secretKeys ? [await checkSecretKey(db, secretKeys)] : []),
      await checkOutage(db),
      await checkQueue(db),
      await checkFailedMails(db),
      await checkNumbering(db),
      await checkWebhooks(db),
      await checkRecordings(db),
      await checkMediaUse(db, mediaQuota),
      await checkErasures(db, erasureLog),
      ...(await checkIdentityProviders(db, checkOptions)),
    ]
  } catch (error) {
    return [problem('content', describeError(error))]
  } finally {
    await db.$disconnect()
  }
}

async function checkSecretKey(db: Db, secretKeys: readonly string[]): Promise<DoctorCheck> {
  const isRight = await hasSecretKey({ db }, secretKeys)
  return isRight ? ok('secret key', "is this database's") : problem('secret key', WRONG_SECRET_KEY)
}

/** Checks erasures in progress, and whether a restored backup brought back erased data. */
async function checkErasures(db: Db, erasureLog: ErasureLog): Promise<DoctorCheck> {
  const since = new Date(Date.now() - ERASURE_GRACE_MS)
  const candidates = await db.erasure.count({
    where: { finishedAt: null, createdAt: { lt: since }, subject: { not: 'retention' } },
  })
  const organizations = await db.organizationSuspension.count({ where: { erasesAt: { lt: since } } })
  if (candidates + organizations > 0)
    return problem(
      'erasures',
      `${candidates} of candidates and ${organizations} of organizations should have been done for over an hour. The log says why: an erasure could not be continued yet, a suspended organization could not be looked after yet`,
    )
  const reader = { db, deps: { erasureLog } }
  const lines = await readReceiptLines(reader)
  // Erasures by an organization's retention have no receipt: they are repeated by themselves after a restore.
  const where = { finishedAt: { not: null }, subject: { not: 'retention' } }
  const finished = await db.erasure.findMany({ where, select: { id: true } })
  if (!lines && finished.length === 0) return ok('erasures', 'none so far, and no file at ERASURE_LOG')
  const logged = new Set(lines?.map(({ id }) => id))
  const unlogged = finished.filter(({ id }) => !logged.has(id)).length
  if (unlogged > 0)
    return problem(
      'erasures',
      `${unlogged} of this database are not in ERASURE_LOG: it has to be one file for all machines, and the one of before a restore`,
    )
  const undone = [...(await findRestoredOrganizations(reader)), ...(await findUnfinishedErasures(reader))]
  if (undone.length === 0) return ok('erasures', 'all that ERASURE_LOG tells of are done')
  return problem(
    'erasures',
    `${undone.length} that ERASURE_LOG tells of are not known to this database, as after a backup was restored: npm run cli -- erase --again`,
  )
}

async function checkOutage(db: Db): Promise<DoctorCheck> {
  const outage = await readMailOutage(db)
  if (!outage) return ok('mail', 'the mail server takes mails, as far as is known')
  const { since, about, reason, probes, nextProbeAt } = outage
  const outageText = `${OUTAGE_CAUSES[about]} since ${since.toISOString()}: ${reason.replace(/\s+/g, ' ')}`
  return problem(
    'mail',
    `${outageText}. All mails wait; ${probes} were tried since, the next after ${nextProbeAt.toISOString()}. When it works again: npm run cli -- mail retry --waiting`,
  )
}

const OUTAGE_CAUSES = {
  unreachable: 'the mail server can not be reached',
  rejecting: 'the mail server turns this service away',
  throttled: 'the mail server wants fewer mails than there are',
}

async function checkQueue(db: Db): Promise<DoctorCheck> {
  const queues = [await measureEmailQueue({ db }), await measureMemberEmailQueue({ db }), await measureRegistrationQueue({ db })]
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0)
  const [oldest] = queues.flatMap((queue) => queue.oldest ?? []).sort((a, b) => a.getTime() - b.getTime())
  if (!oldest) return ok('queue', 'no mail waits')
  const since = `${waiting} waiting, the oldest since ${oldest.toISOString()}`
  if (Date.now() - oldest.getTime() < MAIL_GRACE_MS) return ok('queue', since)
  return problem('queue', `${since}. Is the service running? For the reasons: npm run cli -- mail list --state queued`)
}

/** Refused recipients and expired links concern the organization. Exhausted retries, or more refusals than mails sent, concern the operator. */
async function checkFailedMails(db: Db): Promise<DoctorCheck> {
  const since = new Date(Date.now() - RECENT_MS)
  const [toCandidates, toMembers] = [await measureFailedEmails({ db }, since), await measureFailedMemberEmails({ db }, since)]
  const sum = (count: keyof FailedEmails) => toCandidates[count] + toMembers[count]
  const [failed, refused, givenUp, sent] = [sum('failed'), sum('refused'), sum('givenUp'), sum('sent')]
  const blocked = await measureBlockedEmails({ db }, since)
  if (blocked > 1 && blocked > sent * BLOCKED_SHARE)
    return problem('mails', `${blocked} of ${sent} that were sent in the last day came back: ${BLOCKED_ADVICE}`)
  if (failed === 0) return ok('mails', 'none failed')
  const counts = `${failed} failed in all; in the last day ${refused} were refused, ${givenUp} given up and ${sent} sent`
  const reasons = 'For the reasons: npm run cli -- mail list --state failed'
  const isForOperator = givenUp > 0 || (refused > 1 && refused > sent)
  if (!isForOperator) return ok('mails', `${counts}. ${reasons}`)
  return problem('mails', `${counts}. ${reasons}; to send them again: npm run cli -- mail retry --all`)
}

/** Share of bounces above which the service itself is probably blocked. */
const BLOCKED_SHARE = 0.05
const BLOCKED_ADVICE =
  'their servers want no mail from the service. Look at SPF, DKIM and DMARC of MAIL_FROM, and at what its address is known for'

async function checkNumbering(db: Db): Promise<DoctorCheck> {
  const { oldest } = await measureSequenceLag({ db })
  if (!oldest || Date.now() - oldest.getTime() < NUMBERING_GRACE_MS) return ok('events', 'all are in the feed')
  const since = `some have waited to be put into the feed since ${oldest.toISOString()}`
  return problem('events', `${since}. Is the service running? If it is, its log says why: events can not be numbered`)
}

async function checkWebhooks(db: Db): Promise<DoctorCheck> {
  const { oldestDue, failing, disabled } = await measureWebhooks({ db }, new Date())
  const counts = `${failing} failing, ${disabled} disabled for it`
  const advice = 'To see them: npm run cli -- webhook list <organization>'
  if (oldestDue && Date.now() - oldestDue.getTime() >= MAIL_GRACE_MS)
    return problem(
      'webhooks',
      `events have been waiting since ${oldestDue.toISOString()}. Is a process with ROLE all or worker running?`,
    )
  // Disabled webhooks are not retried until their organization enables them.
  if (failing > 0) {
    const organizations = await listFailingOrganizations({ db }, MAX_LISTED)
    const since = organizations.map(({ name, since }) => `${name} since ${since.toISOString()}`)
    return problem('webhooks', `${counts}: ${since.join(', ')}. ${advice}. If all fail, look at this machine's way out`)
  }
  return ok('webhooks', disabled === 0 ? 'all are well' : `${counts}. ${advice}`)
}

async function checkRecordings(db: Db): Promise<DoctorCheck> {
  const failed = await countFailedRecordings({ db })
  if (failed === 0) return ok('recordings', 'all that are complete could be joined, or will be')
  return problem(
    'recordings',
    `${failed} could not be joined; their parts are kept. The log says why: a recording can not be joined. When that is fixed: npm run cli -- media retry --all`,
  )
}

/** Number of organizations listed, and share of MEDIA_QUOTA from which on it is a problem: nobody there can record soon. */
const MAX_LISTED = 10
const WARNING_SHARE = 0.9

async function checkMediaUse(db: Db, quota: number): Promise<DoctorCheck> {
  const largest = await listLargestMedia({ db }, MAX_LISTED)
  if (largest.length === 0) return ok('media use', 'no photos or recordings')
  const shares = largest.map(({ name, bytes }) => `${name} ${formatBytes(bytes)} (${Math.round((100 * bytes) / quota)} %)`)
  const says = `most have, with their share of MEDIA_QUOTA: ${shares.join(', ')}`
  if (largest.every(({ bytes }) => bytes < WARNING_SHARE * quota)) return ok('media use', says)
  return problem('media use', `${says}. At 100 % nobody there can begin to record: raise MEDIA_QUOTA, or keep media for shorter`)
}
