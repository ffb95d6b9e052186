import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import { parseConnectionUrl } from 'nodemailer/lib/shared'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { needsSmtpUtf8 } from '../domain/validation/email-address.ts'
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
export type SmtpTimeouts = { command: number; end: number }
export const SMTP_TIMEOUTS: SmtpTimeouts = { command: 300_000, end: 600_000 }

/** Milliseconds for the DNS lookup, and for connecting including greeting and TLS. */
const DNS_MS = 30_000
const SETUP_MS = 420_000
/** Milliseconds until an idle connection is closed, and mails until a used one is. */
const IDLE_MS = 20_000
const MAX_USES = 500

type OpenConnection = {
  connection: SMTPConnection
  uses: number
  onError: (error: SmtpError) => void
  idleTimer?: NodeJS.Timeout
}
/** @property hasBegunText true if the message's text was being sent. */
export class SendingError extends Error {
  readonly hasBegunText: boolean
  override readonly cause: SmtpError
  constructor(cause: SmtpError, hasBegunText: boolean) {
    super(cause.message)
    this.cause = cause
    this.hasBegunText = hasBegunText
  }
}

export type Connections = {
  /** Sends the message over an idle or new connection. @throws SendingError. */
  send: (message: Message, abandon: AbortSignal) => Promise<void>
  /** Connects and authenticates. @throws SmtpError. */
  verify: () => Promise<void>
  /** Closes idle connections. */
  closeIdle: () => void
  close: () => void
}

type Pool = ReturnType<typeof parseSettings> & {
  isOpportunistic: boolean
  patience: SmtpTimeouts
  idle: OpenConnection[]
  connections: Set<OpenConnection>
}

/** Creates a pool with one connection per concurrent mail. */
export function createConnections(settings: SmtpSettings, patience: SmtpTimeouts = SMTP_TIMEOUTS): Connections {
  const { isOpportunistic } = settings
  const pool: Pool = { ...parseSettings(settings, patience), isOpportunistic, patience, idle: [], connections: new Set() }
  return {
    send: (message, abandon) => send(pool, message, abandon),
    verify: async () => quit(pool, await openConnection(pool)),
    closeIdle: () => {
      for (const opened of [...pool.idle]) quit(pool, opened)
    },
    close: () => {
      for (const opened of [...pool.connections]) closeNow(pool, opened)
    },
  }
}

async function openConnection(pool: Pool, abandon?: AbortSignal): Promise<OpenConnection> {
  const connection = new SMTPConnection(pool.options)
  const opened: OpenConnection = { connection, uses: 0, onError: () => {} }
  pool.connections.add(opened)
  connection.on('end', () => untrack(pool, opened))
  try {
    connection.on('error', (error: SmtpError) => opened.onError(error))
    await runStep(opened, abandon, (done) => connection.connect(done))
    if (pool.auth) await logIn(pool, opened, abandon)
    return opened
  } catch (error) {
    closeNow(pool, opened)
    throw error
  }
}

async function logIn({ auth, isOpportunistic }: Pool, opened: OpenConnection, abandon?: AbortSignal): Promise<void> {
  const { connection } = opened
  const { allowsAuth } = connection as SMTPConnection & { allowsAuth: boolean }
  if (!allowsAuth && isOpportunistic) return
  if (!allowsAuth) throw Object.assign(new Error(LOGIN_NOT_OFFERED), { code: 'ENOAUTH' })
  await runStep(opened, abandon, (done) => connection.login({ ...auth }, done))
}

function untrack({ idle, connections }: Pool, opened: OpenConnection): void {
  clearTimeout(opened.idleTimer)
  connections.delete(opened)
  if (idle.includes(opened)) idle.splice(idle.indexOf(opened), 1)
}

function closeNow(pool: Pool, opened: OpenConnection): void {
  untrack(pool, opened)
  opened.connection.close()
}

/** Closes the connection with QUIT. */
function quit(pool: Pool, opened: OpenConnection): void {
  untrack(pool, opened)
  opened.onError = () => {}
  opened.connection.quit()
  setTimeout(() => opened.connection.close(), 1_000).unref()
}

function returnToPool(pool: Pool, opened: OpenConnection): void {
  if (opened.uses >= MAX_USES) quit(pool, opened)
  else {
    opened.onError = () => untrack(pool, opened)
    opened.idleTimer = setTimeout(() => quit(pool, opened), IDLE_MS).unref()
    pool.idle.push(opened)
  }
}

/** Sends over this connection. It survives refusals of mails, but no other errors. */
async function transmit(pool: Pool, opened: OpenConnection, message: Message, abandon: AbortSignal): Promise<void> {
  const { patience } = pool
  clearTimeout(opened.idleTimer)
  opened.uses++
  const { envelope, text, hasBegunText } = await buildMessage(message, () => setTimeoutOf(opened, patience.end))
  if (needsSmtpUtf8(message.to.address) && !offersSmtpUtf8(opened)) {
    returnToPool(pool, opened)
    throw new SendingError(Object.assign(new Error(SMTPUTF8_NOT_OFFERED), { code: NO_SMTPUTF8 }), false)
  }
  try {
    await runStep(opened, abandon, (done) => opened.connection.send(envelope, text, done))
    setTimeoutOf(opened, patience.command)
    returnToPool(pool, opened)
  } catch (error) {
    if (endsConnection(error as SmtpError)) closeNow(pool, opened)
    else
      await reset(opened).then(
        () => returnToPool(pool, opened),
        () => quit(pool, opened),
      )
    throw new SendingError(error as SmtpError, hasBegunText())
  }
}

async function send(pool: Pool, message: Message, abandon: AbortSignal): Promise<void> {
  const idleConnection = pool.idle.pop()
  if (idleConnection) {
    try {
      return await transmit(pool, idleConnection, message, abandon)
    } catch (error) {
      // The server closed a connection that was idle or used for too long. Only a new connection says how the server is.
      if (!(error instanceof SendingError) || error.hasBegunText || !endsConnection(error.cause)) throw error
    }
  }
  const opened = await openConnection(pool, abandon).catch((error) => {
    throw new SendingError(error, false)
  })
  return transmit(pool, opened, message, abandon)
}

const LOGIN_NOT_OFFERED =
  'The mail server offers no login (AUTH), but SMTP_URL has a user. Leave the user out, or set SMTP_SECURITY=opportunistic'

const SMTPUTF8_NOT_OFFERED = 'The mail server takes no address with international letters before the @ (it offers no SMTPUTF8)'

/** nodemailer would send such an address even to a server without SMTPUTF8. */
const offersSmtpUtf8 = ({ connection }: OpenConnection): boolean =>
  (connection as SMTPConnection & { _supportedExtensions: string[] })._supportedExtensions.includes('SMTPUTF8')

const endsConnection = ({ responseCode, code }: SmtpError): boolean =>
  code !== NO_SMTPUTF8 && (responseCode === undefined || responseCode === 421)

/** Sets the timeout from now on: nodemailer has a single one for all commands. */
function setTimeoutOf({ connection: { _socket: socket } }: OpenConnection, ms: number): void {
  if (socket) socket.setTimeout(ms)
}

/** Ends the transaction that a refused mail leaves open. */
const reset = (opened: OpenConnection): Promise<void> => runStep(opened, undefined, (done) => opened.connection.reset(done))

/** Runs one step until it ends, the connection fails, or `abandon` is triggered. */
const runStep = (
  opened: OpenConnection,
  abandon: AbortSignal | undefined,
  step: (done: (error?: SmtpError | null) => void) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    opened.onError = reject
    const giveUp = () => reject(Object.assign(new Error(CONVERSATION_TOO_LONG), { code: 'ETIMEDOUT', command: 'CONN' }))
    abandon?.addEventListener('abort', giveUp, { once: true })
    step((error) => {
      abandon?.removeEventListener('abort', giveUp)
      if (error) reject(error)
      else resolve()
    })
  })

const CONVERSATION_TOO_LONG = 'The mail server went on talking, and came to no end'

/** Builds the envelope and MIME text. `onBegin` is called when the server asks for the text. */
async function buildMessage({ messageId, headers, notices, ...message }: Message, onBegin: () => void) {
  const node = new MailComposer({ messageId, headers, ...message, disableFileAccess: true, disableUrlAccess: true }).compile()
  const { from, to } = node.getEnvelope()
  const bytes = unfoldFirstLines(await node.build())
  let hasBegunText = false
  const text = Readable.from(
    (async function* () {
      hasBegunText = true
      onBegin()
      yield bytes
    })(),
    { objectMode: false },
  )
  const envelope = { from: notices?.to ?? from, to, size: bytes.length, ...(notices && { dsn: dsnOptions(notices.emailId) }) }
  return { envelope, text, hasBegunText: () => hasBegunText }
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
const dsnOptions = (emailId: string) => ({ id: emailId, return: 'headers', notify: 'failure' })

/** Requires TLS if the URL has credentials, unless `isOpportunistic`. */
function parseSettings({ url, name, isOpportunistic }: SmtpSettings, patience: SmtpTimeouts) {
  const { auth, ...parsed } = parseConnectionUrl(url)
  const timeouts = {
    dnsTimeout: DNS_MS,
    connectionTimeout: Math.max(SETUP_MS, patience.command),
    greetingTimeout: patience.command,
    socketTimeout: patience.command,
  }
  const insists = auth !== undefined && !parsed.secure && !isOpportunistic
  const options = { name, ...parsed, ...timeouts, logger: false, ...(insists && { requireTLS: true, ignoreTLS: false }) }
  return { options, auth }
}
