import type { Connection } from '../db/client.ts'
import type { KeyMode, Tier } from '../generated/prisma/client.ts'
import type { ApiKeyCache } from './access/cached-api-key.ts'
import type { InvitationRef } from './invites/tokens.ts'
import type { Allowance } from './webhooks/targets.ts'

export type { KeyMode, Tier }

/** The durable queue, as far as the domain needs it. */
export type Queue = {
  /** Adds sendings of invites' mails to the transaction that makes them: both happen or neither does. */
  enqueueInvitationEmails: (db: Connection, emailIds: string[]) => Promise<void>
}

/** The numbering of events, as far as the domain needs it. */
export type EventNumbering = {
  /** Events were committed, and are to be numbered soon. */
  recorded: () => void
  /** The highest position in the feed, as of a second ago or later. */
  head: () => bigint
}

/** How an attempt to send a mail may end, as it is counted. */
export const EMAIL_OUTCOMES = ['sent', 'captured', 'failed', 'retried'] as const

/** How an attempt to deliver an event to an endpoint may end, as it is counted. */
export const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'retried'] as const

/** What the scheduled sweep does, each by itself. */
export const SWEEP_PARTS = ['expire_invites', 'forget_answers', 'forget_events', 'forget_deliveries'] as const
export type SweepPart = (typeof SWEEP_PARTS)[number]

/** What the domain counts. */
export type Metrics = {
  inviteCreated: () => void
  emailAttempted: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  webhookAttempted: (outcome: (typeof WEBHOOK_OUTCOMES)[number]) => void
  swept: (part: SweepPart, outcome: 'done' | 'failed') => void
  eventsNumbered: (count: number) => void
  numberingFailed: () => void
}

/** Where the domain reports what no caller waits for. Shaped like pino's methods. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>

/** Everything from outside that domain functions use, but the database; time, ids and the queue are parameters so that tests can set them. */
export type Deps = {
  apiKeyCache: ApiKeyCache
  queue: Queue
  events: EventNumbering
  /** The address of the candidate's page. It opens the invitation: it is not logged, and stored nowhere. */
  invitationUrl: (invite: InvitationRef) => string
  /** What has to be readable again is encrypted under, newest first. */
  secretKeys: readonly string[]
  /** Where webhooks may go besides public addresses. */
  webhookAllowance: Allowance
  clock: () => Date
  newId: () => string
  log: Log
  metrics: Metrics
}

/** Who acts. What each may do is said in one table, in access/permissions.ts. */
export type Actor =
  /** A system with an API key; `createdById` is the member who generated the key. */
  | { kind: 'apiKey'; id: string; mode: KeyMode; createdById: string | null }
  /** The person behind an invitation's link. */
  | { kind: 'candidate'; inviteId: string }
  /** Whoever runs the service, by the command line. */
  | { kind: 'operator' }
  /** The service itself: its jobs, its clock. */
  | { kind: 'system' }

/** Work that is not of one organization. */
export type ServiceContext = {
  actor: Actor
  /** The one door to the database. Within a transaction it is the transaction, so that nothing can read or write beside it. */
  db: Connection
  deps: Deps
}

/** Work for one organization: every query begins with its id. */
export type Context = ServiceContext & { organization: { id: string; name: string; tier: Tier } }
