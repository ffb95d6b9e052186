import type { Verdict } from '../domain/mails/mail-outage.ts'
import { type Connections, createConnections, type Patience, SendingError, type SmtpSettings } from './connections.ts'
import type { Message } from './message.ts'
import { judge, type SmtpError, storable } from './verdict.ts'

/** The way out for mail. */
export type Mailer = {
  /** false: nothing leaves, mails are captured in the local mailbox. */
  delivers: boolean
  /** Hands the message to the mail server. It takes as long as {@link DEADLINE} at most. */
  send: (message: Message) => Promise<Verdict>
  /** Connects and authenticates without sending. @throws Error with the reason when that fails. */
  verify: () => Promise<void>
  /** Ends the connections that nobody uses, because the server wants fewer. */
  rest: () => void
  close: () => void
}

/** Milliseconds that a mail may take in all: a server that never stops talking ends no other way. Above the sum of what RFC 5321 allows. */
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
