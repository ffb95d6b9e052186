import type { Verdict } from '../domain/mails/mail-outage.ts'
import { type Connections, createConnections, SendingError, type SmtpSettings, type SmtpTimeouts } from './connections.ts'
import type { Message } from './message.ts'
import { classifyError, type SmtpError, withoutNul } from './verdict.ts'

export type Mailer = {
  /** false: mails are only stored. */
  delivers: boolean
  /** Sends one message, within {@link DEADLINE_MS}. */
  send: (message: Message) => Promise<Verdict>
  /** Connects and authenticates. @throws Error with the reason. */
  verify: () => Promise<void>
  /** Closes idle connections, because the server throttles. */
  closeIdle: () => void
  close: () => void
}

/** Milliseconds for one mail, above the sum of RFC 5321's timeouts. It stops servers that keep talking. */
const DEADLINE_MS = 1_800_000

/** @param smtp undefined: mails are captured. */
export function createMailer(
  smtp: SmtpSettings | undefined,
  { patience, deadline = DEADLINE_MS }: { patience?: SmtpTimeouts; deadline?: number } = {},
): Mailer {
  if (!smtp) return captureMailer
  const connections = createConnections(smtp, patience)
  return {
    delivers: true,
    send: (message) => sendWithin(deadline, connections, message),
    async verify() {
      await connections.verify().catch((error: SmtpError) => {
        throw new Error(withoutNul(error.message), { cause: error })
      })
    },
    closeIdle: connections.closeIdle,
    close: connections.close,
  }
}

const captureMailer: Mailer = {
  delivers: false,
  send: async () => ({ kind: 'taken' }),
  verify: async () => {},
  closeIdle: () => {},
  close: () => {},
}

async function sendWithin(deadline: number, connections: Connections, message: Message): Promise<Verdict> {
  const abandon = new AbortController()
  const timer = setTimeout(() => abandon.abort(), deadline)
  try {
    await connections.send(message, abandon.signal)
    return { kind: 'taken' }
  } catch (error) {
    if (error instanceof SendingError) return classifyError(error.cause, error)
    throw error
  } finally {
    clearTimeout(timer)
  }
}
