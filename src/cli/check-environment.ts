import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { chooseHome } from '../db/embedded-files.ts'
import { countUnread, type ImapAddress } from '../mail/events/bounce-mailbox.ts'
import { createMailer } from '../mail/mailer.ts'
import { probeFileScanner } from '../media/scan-file.ts'
import { openMediaStore } from '../media/store.ts'
import { probeTranscriber } from '../media/transcriber.ts'
import { TRANSCRIPTION_FORMATS } from '../media/transcription-answer.ts'
import { findLimiter } from '../processes/limit-process.ts'
import { type Config, lacksTrustedProxy } from '../runtime/config.ts'
import { MIN_SECRET_LENGTH } from '../runtime/environment.ts'
import { secretFile } from '../runtime/secret.ts'
import { toSmtpSettings } from '../runtime/smtp-settings.ts'
import { isLocalUrl } from '../runtime/validate-settings.ts'
import { describeError } from './output.ts'

/** Result of one check. The message of a problem says what to do. */
export type DoctorCheck = { name: string; problem: boolean; message: string }

const PROXY_TIMEOUT_MS = 3_000
export const ok = (name: string, message: string): DoctorCheck => ({ name, problem: false, message })
export const problem = (name: string, message: string): DoctorCheck => ({ name, problem: true, message })

/** Candidates can't open a link to localhost. */
export function checkPublicAddress({ publicUrl, smtp }: Config): DoctorCheck {
  if (isLocalUrl(publicUrl) && smtp.url)
    return problem('links', `mails go out with links to ${publicUrl}: set PUBLIC_URL to the public address`)
  return ok('links', `lead to ${publicUrl}`)
}

/** Asks the running service, by its public URL, whether requests come through an untrusted proxy. */
export async function checkProxy(config: Config): Promise<DoctorCheck> {
  const advice = 'Set TRUST_PROXY to its address, or all its clients count as one, and some lock out the others'
  try {
    const answer = await fetch(`${config.publicUrl}/readyz`, { signal: AbortSignal.timeout(PROXY_TIMEOUT_MS) })
    const { untrustedProxy } = (await answer.json()) as { untrustedProxy?: boolean }
    if (untrustedProxy) return problem('proxy', `requests come through one that is not trusted. ${advice}`)
    return ok('proxy', `${config.publicUrl} is reached without one, or by one that is trusted`)
  } catch (error) {
    const guess = lacksTrustedProxy(config) ? `; HTTPS needs a proxy, and none is trusted. ${advice}` : ''
    return ok('proxy', `not tried, ${config.publicUrl} does not answer here: ${describeError(error)}${guess}`)
  }
}

/** Checks the secret that signs links. */
export async function checkSecret({ secretKeys, dataDir }: Config): Promise<DoctorCheck> {
  if (secretKeys)
    return ok('secret', secretKeys.length === 1 ? 'SECRET_KEY' : `SECRET_KEY, the first of ${secretKeys.length} signs`)
  const file = secretFile(await chooseHome(dataDir).catch(() => dataDir)) // checkDatabase reports the reason
  const secret = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error)
  if (typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH) return ok('secret', file)
  if (typeof secret === 'string')
    return problem('secret', `${file} holds no secret: delete it, and a new one is made at the next start`)
  return secret.code === 'ENOENT' ? ok('secret', `${file} is made at the first start`) : problem('secret', secret.message)
}

/** Connects to the mail server without sending. */
export async function checkMailServer(config: Config): Promise<DoctorCheck> {
  const mailer = createMailer(toSmtpSettings(config), { patience: CHECK_TIMEOUTS })
  if (!mailer.delivers) return ok('mail server', 'none: mails are captured')
  const { host } = new URL(config.smtp.url!)
  try {
    await mailer.verify()
    return ok('mail server', `${host} answers`)
  } catch (error) {
    return problem('mail server', `${host}: ${describeError(error)}. ${adviceFor(error as Error)}`)
  } finally {
    mailer.close()
  }
}

/** Milliseconds. Shorter than the service's timeouts, so a slow server fails here and may still accept mails. */
const CHECK_TIMEOUTS = { command: 20_000, end: 20_000 }

/** Advice by error. */
function adviceFor({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as { code?: string }
  if (code === 'EAUTH') return 'Check user and password in SMTP_URL'
  if (code === 'ENOAUTH') return 'Check SMTP_URL'
  if (code === 'ETLS' || /certificate|altnames/i.test(message))
    return 'Name the certificate, or that of its authority, in NODE_EXTRA_CA_CERTS; or add ?tls.servername=… to SMTP_URL, where the name differs. With no encryption there: SMTP_SECURITY=opportunistic'
  return 'Check SMTP_URL, and whether the server lets this machine in'
}

/** Logs in to the bounce mailbox, without changing anything. */
export async function checkBounceMailbox(address: ImapAddress): Promise<DoctorCheck> {
  const name = 'bounces'
  try {
    const unread = await countUnread(address)
    return ok(name, `${address.host} answers; unread in ${address.folder}: ${unread}`)
  } catch (error) {
    return problem(
      name,
      `${address.host}: ${describeError(error)}. Check server, user, password and folder in BOUNCE_IMAP_URL; until then notices wait there`,
    )
  }
}

export async function checkFileScanner(url: string): Promise<DoctorCheck> {
  const { host } = new URL(url)
  try {
    return ok('file scanner', `${host} answers: ${await probeFileScanner(url)}`)
  } catch (error) {
    return problem('file scanner', `${host}: ${describeError(error)}. Check FILE_SCAN_URL; until then files of candidates wait`)
  }
}

export async function checkRedis(url: string): Promise<DoctorCheck> {
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

/** Checks that at least one replica follows, and all answer. One URL may be the primary, as after a failover. */
export async function checkReplicas(urls: string[]): Promise<DoctorCheck> {
  const replicas = await Promise.all(urls.map(probeReplica))
  const says = replicas.map(({ says }) => says).join('; ')
  if (replicas.some(({ follows }) => follows) && replicas.every(({ answers }) => answers)) return ok('replica', says)
  return problem('replica', `${says}. Check DATABASE_READ_URL; while none follows, lists are read from the database`)
}

async function probeReplica(url: string): Promise<{ follows: boolean; answers: boolean; says: string }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // the query in flight rejects with it
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT pg_is_in_recovery() AS follows, pg_last_xact_replay_timestamp() AS last`)
    const { follows, last } = rows[0]
    if (!follows) return { follows, answers: true, says: 'DATABASE_READ_URL is no replica: it takes changes itself' }
    return {
      follows,
      answers: true,
      says: `follows; the last change it has is of ${last?.toISOString() ?? 'before it was started'}`,
    }
  } catch (error) {
    return { follows: false, answers: false, says: describeError(error) }
  } finally {
    await client.end()
  }
}

/** Checks how the processes that join recordings are limited. */
export async function checkProcessLimits(): Promise<DoctorCheck> {
  const limiter = await findLimiter()
  if (limiter === 'prlimit') return ok('joining', 'prlimit bounds what joins recordings')
  if (limiter !== null)
    return ok(
      'joining',
      `what joins recordings is looked at by ${limiter === 'proc' ? '/proc' : 'ps'}: install prlimit to bound it at once`,
    )
  return problem(
    'joining',
    'nothing bounds the memory and the time of what joins recordings: there is neither prlimit (of util-linux) nor /proc nor ps. Install one of them',
  )
}

/** Checks that media can be stored, by putting, reading, and deleting one byte. */
export async function checkMedia(config: Config): Promise<DoctorCheck> {
  const storeName =
    config.mediaUrl === undefined ? 'the folder media under DATA_DIR' : `the bucket ${new URL(config.mediaUrl).hostname}`
  const key = `doctor/${randomUUID()}`
  try {
    const store = await openMediaStore(config)
    await store.put(key, Buffer.of(1))
    const content = await store.get(key)
    const isSame = content !== null && (await buffer(content)).equals(Buffer.of(1))
    await store.deletePrefix('doctor/')
    return isSame ? ok('media', `${storeName} keeps them`) : problem('media', `${storeName} does not give back what it was given`)
  } catch (error) {
    return problem(
      'media',
      `${storeName} can not keep them: ${describeError(error)}. Check MEDIA_URL and DATA_DIR, and their credentials and rights`,
    )
  }
}

const TRANSCRIBER_TIMEOUT_MS = 30_000

/** Sends a second of silence to the speech recognition service in each format. */
export async function checkTranscriber(settings: NonNullable<Config['transcription']>): Promise<DoctorCheck> {
  const name = 'transcripts'
  const { host } = new URL(settings.url)
  const formats: string[] = []
  let failure: unknown
  for (const format of TRANSCRIPTION_FORMATS) {
    try {
      await probeTranscriber({ ...settings, format }, TRANSCRIBER_TIMEOUT_MS)
      formats.push(format)
    } catch (error) {
      failure ??= error
    }
  }
  if (formats.includes(settings.format)) return ok(name, `${host} answers; formats: ${formats.join(', ')}`)
  const advice = formats[0]
    ? `Set TRANSCRIBE_FORMAT=${formats[0]}: it has no ${settings.format}`
    : `${describeError(failure)}. Check TRANSCRIBE_URL, TRANSCRIBE_KEY, and TRANSCRIBE_MODEL; until then recordings wait`
  return problem(name, `${host}: ${advice}`)
}
