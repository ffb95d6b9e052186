import type { Db, Transaction } from '../db/client.ts'
import type { KeyMode, Tier } from '../generated/prisma/client.ts'
import type { ApiKeyCache } from './access/api-key-cache.ts'
import type { InvitationRef } from './invites/tokens.ts'

export type { KeyMode, Tier }

/** The durable queue, as far as the domain needs it. */
export type Queue = {
  /** Adds sendings of invites' mails to the transaction that makes them: both happen or neither does. */
  enqueueInvitationEmails: (tx: Transaction, emailIds: string[]) => Promise<void>
}

/** How an attempt to send a mail may end, as it is counted. */
export const EMAIL_OUTCOMES = ['sent', 'captured', 'failed', 'retried'] as const

/** What the scheduled sweep does, each by itself. */
export const SWEEP_PARTS = ['expire_invites', 'forget_answers'] as const
export type SweepPart = (typeof SWEEP_PARTS)[number]

/** What the domain counts. */
export type Metrics = {
  inviteCreated: () => void
  emailAttempted: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  swept: (part: SweepPart, outcome: 'done' | 'failed') => void
}

/** Where the domain reports what no caller waits for. Shaped like pino's methods. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>

/** Everything from outside that domain functions use; time, ids and the queue are parameters so that tests can set them. */
export type Deps = {
  db: Db
  apiKeyCache: ApiKeyCache
  queue: Queue
  /** The address of the candidate's page. It opens the invitation: it is not logged, and stored nowhere. */
  invitationUrl: (invite: InvitationRef) => string
  clock: () => Date
  newId: () => string
  log: Log
  metrics: Metrics
}

/** Who asks: the organization and the key that opened the door. Every query begins with the organization's id. */
export type Context = {
  organization: { id: string; name: string; tier: Tier }
  mode: KeyMode
  apiKey: { id: string; createdById: string | null }
  /** The transaction that is open around the whole request, when there is one. */
  transaction?: Transaction
  deps: Deps
}
