import type { Verdict } from '../domain/mails/mail-outage.ts'
import { type Connections, createConnections, type Patience, SendingError, type SmtpSettings } from './connections.ts'
import type { Message } from './message.ts'
import { judge, type SmtpError, storable } from './verdict.ts'

export type Mailer = {
  /** false: mails are only stored. */
  delivers: boolean
  /** Sends one message, within {@link DEADLINE}. */
  send: (message: Message) => Promise<Verdict>
  /** Connects and authenticates. @throws Error with the reason. */
  verify: () => Promise<void>
  /** Closes idle connections, because the server throttles. */
  rest: () => void
  close: () => void
}

/** Milliseconds for one mail, above the sum of RFC 5321's timeouts. It stops servers that keep talking. */
const DEADLINE = 1_800_000

/** @param smtp undefined: mails are captured. */
export function createMailer(
  smtp: SmtpSettings | undefined,
  { patience, deadline = DEADLINE }: { patience?: Patience; deadline?: number } = {},
): Mailer {
  if (!smtp) return capturingMailer
  const connections = createConnections(smtp, patience)
  return {
    delivers: true,
    send: (message) => within(deadline, connections, message),
    async verify() {
      await connections.verify().catch((error: SmtpError) => {
        throw new Error(storable(error.message), { cause: error })
      })
    },
    rest: connections.rest,
    close: connections.close,
  }
}

const capturingMailer: Mailer = {
  delivers: false,
  send: async () => ({ kind: 'taken' }),
  verify: async () => {},
  rest: () => {},
  close: () => {},
}

async function within(deadline: number, connections: Connections, message: Message): Promise<Verdict> {
  const abandon = new AbortController()
  const timer = setTimeout(() => abandon.abort(), deadline)
  try {
    await connections.send(message, abandon.signal)
    return { kind: 'taken' }
  } catch (error) {
    if (error instanceof SendingError) return judge(error.cause, error)
    throw error
  } finally {
    clearTimeout(timer)
  }
}
