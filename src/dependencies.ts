import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { v7 as uuidv7 } from 'uuid'
import type { Config } from './config.ts'
import { createDb } from './db/client.ts'
import { startEmbeddedDatabase } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import type { Deps } from './domain/context.ts'
import { workSweep } from './jobs/expire-invites.ts'
import { asDomainQueue, startQueue } from './jobs/queue.ts'
import { workInvitationEmails } from './jobs/send-invitation.ts'
import { type MailSettings, renderInvitation } from './mail/invitation-email.ts'
import { createMailer, type Mailer } from './mail/mailer.ts'

/** What the service runs on. */
export type Dependencies = {
  deps: Deps
  mailer: Mailer
  mailSettings: MailSettings
  /** Lets the mails under way finish, then closes everything in the reverse order of its making. */
  dispose: () => Promise<void>
}

const MAIL_GRACE_MS = 8_000

/** The configured database, started if it is the embedded one, and brought up to date. */
export async function openDatabase(config: Config): Promise<{ url: string; embedded: boolean; release: () => Promise<void> }> {
  const embedded = config.databaseUrl ? undefined : await startEmbeddedDatabase({ dataDir: config.dataDir })
  const url = config.databaseUrl ?? embedded!.url
  await migrate(url)
  return { url, embedded: embedded !== undefined, release: embedded?.release ?? (async () => {}) }
}

type Choices = {
  /** false: this process queues mails but sends none, as the command line does. */
  work?: boolean
  /** The time, where it is not the system's. */
  clock?: () => Date
}

/** Opens the database, the queue and the way to the mail server. */
export async function createDependencies(
  config: Config,
  log: FastifyBaseLogger,
  { work = true, clock = () => new Date() }: Choices = {},
): Promise<Dependencies> {
  const database = await openDatabase(config)
  const db = createDb(database.url)
  const boss = await startQueue(database.url, log, { supervise: work })
  const mailer = createMailer(config.smtpUrl)
  const deps: Deps = { db, queue: asDomainQueue(boss), clock, newId: () => uuidv7(), log }
  const secretKeys = config.secretKeys ?? [await readOrMakeSecret(config.dataDir)]
  const mailSettings = { publicUrl: config.publicUrl, secretKeys, mailFrom: config.mailFrom }
  if (work) await startWork(boss, deps, mailer, mailSettings, config)

  const dispose = async () => {
    await boss.stop({ graceful: true, timeout: MAIL_GRACE_MS })
    mailer.close()
    await db.$disconnect()
    await database.release()
  }
  return { deps, mailer, mailSettings, dispose }
}

async function startWork(
  boss: PgBoss,
  deps: Deps,
  mailer: Mailer,
  settings: MailSettings,
  { deliverTestMail }: Config,
): Promise<void> {
  await workSweep(boss, deps)
  await workInvitationEmails(boss, deps, async (email) => {
    const message = renderInvitation(settings, email)
    const captured = !mailer.delivers || (email.invite.mode === 'test' && !deliverTestMail)
    if (captured) return { state: 'captured' }
    const refusal = await mailer.send(message)
    return refusal === null ? { state: 'sent' } : { state: 'failed', reason: refusal }
  })
}

/** The embedded database's own secret, made once and kept beside it. */
async function readOrMakeSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'secret-key')
  await mkdir(dataDir, { recursive: true })
  const secret = randomBytes(32).toString('hex')
  // Only the first process to get here writes it.
  await writeFile(file, secret, { flag: 'wx', mode: 0o600 }).catch((error) => {
    if (error.code !== 'EEXIST') throw error
  })
  return readFile(file, 'utf8')
}
