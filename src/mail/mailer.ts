import { createTransport } from 'nodemailer'
import type { Message } from './message.ts'

/** The way out for mail. */
export type Mailer = {
  /** false: nothing leaves, mails are captured in the local mailbox. */
  delivers: boolean
  /**
   * Hands the message to the mail server.
   * @returns the server's words when it refuses the message for good (5xx to sender, recipient or content); null when it took it.
   * @throws Error for everything that may pass: no connection, a time-out, a 4xx, refused credentials.
   */
  send: (message: Message) => Promise<string | null>
  /** Connects and authenticates without sending. @throws Error with the reason when that fails. */
  verify: () => Promise<void>
  close: () => void
}

type SmtpError = Error & { code?: string; responseCode?: number; response?: string }

/** Milliseconds. A server that stops talking costs one worker at most 30 s, all told. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
/** Milliseconds that a mail may take in all, waiting for a connection included: a server that never stops talking ends no other way. */
const DEADLINE = 300_000
const POOL = { pool: true as const, maxConnections: 10, maxMessages: 500 }

/** @param smtpUrl `smtp://` (STARTTLS when the server offers it) or `smtps://`, with user, password and nodemailer's options as query parameters. */
export function createMailer(smtpUrl: string | undefined): Mailer {
  if (!smtpUrl) return capturingMailer
  const transport = createTransport({ url: smtpUrl, ...POOL, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true })
  return {
    delivers: true,
    async send(message) {
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), DEADLINE)
      try {
        await transport.sendMail({ ...message, signal: deadline.signal })
        return null
      } catch (error) {
        const refusal = permanentRefusal(error as SmtpError)
        if (refusal === undefined) throw new Error(storable((error as SmtpError).message), { cause: error })
        return storable(refusal)
      } finally {
        clearTimeout(timer)
      }
    },
    async verify() {
      await transport.verify()
    },
    close: () => transport.close(),
  }
}

const capturingMailer: Mailer = { delivers: false, send: async () => null, verify: async () => {}, close: () => {} }

/** Only what the server says about this message is final: a 5xx greeting or login is a matter of configuration, and will be mended. */
function permanentRefusal({ code, responseCode, response, message }: SmtpError): string | undefined {
  const aboutThisMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  return aboutThisMessage && responseCode !== undefined && responseCode >= 500 ? (response ?? message) : undefined
}

/** A server may say anything, and PostgreSQL stores no NUL in a text. */
const storable = (words: string): string => words.replaceAll('\0', '')
