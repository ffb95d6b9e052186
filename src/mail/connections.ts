import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import { parseConnectionUrl } from 'nodemailer/lib/shared'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { needsSmtpUtf8 } from '../domain/checking/email-address.ts'
import type { Message } from './message.ts'
import { NO_SMTPUTF8, type SmtpError } from './verdict.ts'

export type SmtpSettings = {
  /** `smtp://` (STARTTLS) or `smtps://`, with user, password, and TLS options as query parameters. */
  url: string
  /** EHLO name: the host of the public URL. undefined: this machine's name. */
  name: string | undefined
  /** True to send credentials unencrypted, and mails without login, if the server offers nothing better. */
  isOpportunistic: boolean
}

/** Milliseconds of silence after a command, and after the end of the message. The defaults are the minimums of RFC 5321, 4.5.3.2. */
export type Patience = { command: number; end: number }
export const PATIENCE: Patience = { command: 300_000, end: 600_000 }

/** Milliseconds for the DNS lookup, and for connecting including greeting and TLS. */
const LOOK_UP = 30_000
const SETUP = 420_000
/** Milliseconds until an idle connection is closed, and mails until a used one is. */
const IDLE = 20_000
const MAX_USES = 500

type Open = { connection: SMTPConnection; uses: number; onError: (error: SmtpError) => void; idleTimer?: NodeJS.Timeout }
/** @property begun true if the message's text was being sent. */
export class SendingError extends Error {
  readonly begun: boolean
  override readonly cause: SmtpError
  constructor(cause: SmtpError, begun: boolean) {
    super(cause.message)
    this.cause = cause
    this.begun = begun
  }
}

export type Connections = {
  /** Sends the message over an idle or new connection. @throws SendingError. */
  send: (message: Message, abandon: AbortSignal) => Promise<void>
  /** Connects and authenticates. @throws SmtpError. */
  verify: () => Promise<void>
  /** Closes idle connections. */
  rest: () => void
  close: () => void
}

type Pool = ReturnType<typeof readUrl> & { isOpportunistic: boolean; patience: Patience; idle: Open[]; all: Set<Open> }

/** Creates a pool with one connection per concurrent mail. */
export function createConnections(settings: SmtpSettings, patience: Patience = PATIENCE): Connections {
  const { isOpportunistic } = settings
  const pool: Pool = { ...readUrl(settings, patience), isOpportunistic, patience, idle: [], all: new Set() }
  return {
    send: (message, abandon) => send(pool, message, abandon),
    verify: async () => end(pool, await open(pool)),
    rest: () => {
      for (const opened of [...pool.idle]) end(pool, opened)
    },
    close: () => {
      for (const opened of [...pool.all]) drop(pool, opened)
    },
  }
}

async function open(pool: Pool, abandon?: AbortSignal): Promise<Open> {
  const connection = new SMTPConnection(pool.options)
  const opened: Open = { connection, uses: 0, onError: () => {} }
  pool.all.add(opened)
  connection.on('end', () => forget(pool, opened))
  try {
    connection.on('error', (error: SmtpError) => opened.onError(error))
    await perform(opened, abandon, (done) => connection.connect(done))
    if (pool.auth) await logIn(pool, opened, abandon)
    return opened
  } catch (error) {
    drop(pool, opened)
    throw error
  }
}

async function logIn({ auth, isOpportunistic }: Pool, opened: Open, abandon?: AbortSignal): Promise<void> {
  const { connection } = opened
  const { allowsAuth } = connection as SMTPConnection & { allowsAuth: boolean }
  if (!allowsAuth && isOpportunistic) return
  if (!allowsAuth) throw Object.assign(new Error(NO_LOGIN), { code: 'ENOAUTH' })
  await perform(opened, abandon, (done) => connection.login({ ...auth }, done))
}

function forget({ idle, all }: Pool, opened: Open): void {
  clearTimeout(opened.idleTimer)
  all.delete(opened)
  if (idle.includes(opened)) idle.splice(idle.indexOf(opened), 1)
}

function drop(pool: Pool, opened: Open): void {
  forget(pool, opened)
  opened.connection.close()
}

/** Closes the connection with QUIT. */
function end(pool: Pool, opened: Open): void {
  forget(pool, opened)
  opened.onError = () => {}
  opened.connection.quit()
  setTimeout(() => opened.connection.close(), 1_000).unref()
}

function keep(pool: Pool, opened: Open): void {
  if (opened.uses >= MAX_USES) end(pool, opened)
  else {
    opened.onError = () => forget(pool, opened)
    opened.idleTimer = setTimeout(() => end(pool, opened), IDLE).unref()
    pool.idle.push(opened)
  }
}

/** Sends over this connection. It survives refusals of mails, but no other errors. */
async function transmit(pool: Pool, opened: Open, message: Message, abandon: AbortSignal): Promise<void> {
  const { patience } = pool
  clearTimeout(opened.idleTimer)
  opened.uses++
  const { envelope, text, begun } = await compose(message, () => setPatience(opened, patience.end))
  if (needsSmtpUtf8(message.to.address) && !offersSmtpUtf8(opened)) {
    keep(pool, opened)
    throw new SendingError(Object.assign(new Error(NO_UTF8), { code: NO_SMTPUTF8 }), false)
  }
  try {
    await perform(opened, abandon, (done) => opened.connection.send(envelope, text, done))
    setPatience(opened, patience.command)
    keep(pool, opened)
  } catch (error) {
    if (isOver(error as SmtpError)) drop(pool, opened)
    else
      await reset(opened).then(
        () => keep(pool, opened),
        () => end(pool, opened),
      )
    throw new SendingError(error as SmtpError, begun())
  }
}

async function send(pool: Pool, message: Message, abandon: AbortSignal): Promise<void> {
  const kept = pool.idle.pop()
  if (kept) {
    try {
      return await transmit(pool, kept, message, abandon)
    } catch (error) {
      // The server closed a connection that was idle or used for too long. Only a new connection says how the server is.
      if (!(error instanceof SendingError) || error.begun || !isOver(error.cause)) throw error
    }
  }
  const opened = await open(pool, abandon).catch((error) => {
    throw new SendingError(error, false)
  })
  return transmit(pool, opened, message, abandon)
}

const NO_LOGIN =
  'The mail server offers no login (AUTH), but SMTP_URL has a user. Leave the user out, or set SMTP_SECURITY=opportunistic'

const NO_UTF8 = 'The mail server takes no address with international letters before the @ (it offers no SMTPUTF8)'

/** nodemailer would send such an address even to a server without SMTPUTF8. */
const offersSmtpUtf8 = ({ connection }: Open): boolean =>
  (connection as SMTPConnection & { _supportedExtensions: string[] })._supportedExtensions.includes('SMTPUTF8')

const isOver = ({ responseCode, code }: SmtpError): boolean =>
  code !== NO_SMTPUTF8 && (responseCode === undefined || responseCode === 421)

/** Sets the timeout from now on: nodemailer has a single one for all commands. */
function setPatience({ connection: { _socket: socket } }: Open, ms: number): void {
  if (socket) socket.setTimeout(ms)
}

/** Ends the transaction that a refused mail leaves open. */
const reset = (opened: Open): Promise<void> => perform(opened, undefined, (done) => opened.connection.reset(done))

/** Runs one step until it ends, the connection fails, or `abandon` is triggered. */
const perform = (
  opened: Open,
  abandon: AbortSignal | undefined,
  step: (done: (error?: SmtpError | null) => void) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    opened.onError = reject
    const giveUp = () => reject(Object.assign(new Error(NO_END), { code: 'ETIMEDOUT', command: 'CONN' }))
    abandon?.addEventListener('abort', giveUp, { once: true })
    step((error) => {
      abandon?.removeEventListener('abort', giveUp)
      if (error) reject(error)
      else resolve()
    })
  })

const NO_END = 'The mail server went on talking, and came to no end'

/** Builds the envelope and MIME text. `onBegin` is called when the server asks for the text. */
async function compose({ messageId, headers, notices, ...message }: Message, onBegin: () => void) {
  const node = new MailComposer({ messageId, headers, ...message, disableFileAccess: true, disableUrlAccess: true }).compile()
  const { from, to } = node.getEnvelope()
  const bytes = unfoldFirstLines(await node.build())
  let begun = false
  const text = Readable.from(
    (async function* () {
      begun = true
      onBegin()
      yield bytes
    })(),
    { objectMode: false },
  )
  const envelope = { from: notices?.to ?? from, to, size: bytes.length, ...(notices && { dsn: dsnOf(notices.emailId) }) }
  return { envelope, text, begun: () => begun }
}

/**
 * Nodemailer starts a long value on a second line, after a first line with the header's name alone. RFC 5322 (3.2.2) permits that, but some
 * servers and scanners read such a header, most of all a Message-ID, as empty. RFC 5322 (2.1.1) allows 998 characters on a line.
 */
function unfoldFirstLines(message: Buffer): Buffer {
  const end = message.indexOf('\r\n\r\n')
  const headers = message.toString('latin1', 0, end)
  const unfolded = headers.replace(/^([^\s:]+:)[ \t]*\r\n[ \t]+(\S.{0,800}$)/gm, '$1 $2')
  return Buffer.concat([Buffer.from(unfolded, 'latin1'), message.subarray(end)])
}

/** DSN parameters (RFC 3461): report failures only, without the text. */
const dsnOf = (emailId: string) => ({ id: emailId, return: 'headers', notify: 'failure' })

/** Requires TLS if the URL has credentials, unless `isOpportunistic`. */
function readUrl({ url, name, isOpportunistic }: SmtpSettings, patience: Patience) {
  const { auth, ...parsed } = parseConnectionUrl(url)
  const timeouts = {
    dnsTimeout: LOOK_UP,
    connectionTimeout: Math.max(SETUP, patience.command),
    greetingTimeout: patience.command,
    socketTimeout: patience.command,
  }
  const insists = auth !== undefined && !parsed.secure && !isOpportunistic
  const options = { name, ...parsed, ...timeouts, logger: false, ...(insists && { requireTLS: true, ignoreTLS: false }) }
  return { options, auth }
}
