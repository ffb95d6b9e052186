import type { Connection } from '../db/client.ts'
import type { KeyMode, Tier } from '../generated/prisma/client.ts'
import type { AccountLinkRef } from './access/account-tokens.ts'
import type { ApiKeyCache } from './access/cached-api-key.ts'
import type { InvitationRef } from './invites/tokens.ts'

export type { Connection, KeyMode, Tier }

/** The durable queue, as far as the domain needs it. */
export type Queue = {
  /** Adds sendings of invites' mails to the transaction that makes them: both happen or neither does. */
  enqueueInvitationEmails: (db: Connection, emailIds: string[]) => Promise<void>
  /** The same for mails to members. */
  enqueueMemberEmails: (db: Connection, emailIds: string[]) => Promise<void>
  /** Has a batch of invites worked on: again, if it is not finished when a process dies. */
  enqueueInviteBatch: (db: Connection, batchId: string) => Promise<void>
  /** Has a mail sent to whoever signs in with the address, if anybody does: whoever asks is not to learn it, not by the time it takes either. */
  enqueuePasswordReset: (db: Connection, email: string) => Promise<void>
}

/** How an attempt to send a mail may end, as it is counted. */
export const EMAIL_OUTCOMES = ['sent', 'captured', 'failed', 'retried'] as const

/** The parts of the scheduled sweep; one that fails does not stop the others. */
export const SWEEP_PARTS = [
  'expire_invites',
  'forget_answers',
  'forget_audit_entries',
  'forget_batches',
  'forget_sign_ins',
] as const
export type SweepPart = (typeof SWEEP_PARTS)[number]

/** The domain's metrics. */
export type Metrics = {
  inviteCreated: () => void
  emailAttempted: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  memberEmailAttempted: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  swept: (part: SweepPart, outcome: 'done' | 'failed') => void
}

/** The log, with pino's methods. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>

/** Everything external that domain functions use, except the database; time, ids and the queue are injected so that tests can set them. */
export type Deps = {
  apiKeyCache: ApiKeyCache
  queue: Queue
  /** The address of the candidate's page. It opens the invitation: it is not logged, and stored nowhere. */
  invitationUrl: (invite: InvitationRef) => string
  /** The address behind which a member joins or sets a new password. Like the other it is a secret. */
  accountUrl: (link: AccountLinkRef) => string
  clock: () => Date
  newId: () => string
  log: Log
  metrics: Metrics
}

/** Who acts. What each may do is defined in access/permissions.ts. */
export type Actor =
  /** A system with an API key; `createdById` is the member who generated the key. */
  | { kind: 'apiKey'; id: string; mode: KeyMode; createdById: string | null }
  /** A person who is signed in to the portal, as the member they are of the organization. */
  | { kind: 'member'; id: string; userId: string; roles: string[] }
  /** The person behind an invitation's link. */
  | { kind: 'candidate'; inviteId: string }
  /** Whoever runs the service, by the command line. */
  | { kind: 'operator' }
  /** The service itself: its jobs, its clock. */
  | { kind: 'system' }

/** Context of work that does not belong to one organization. */
export type ServiceContext = {
  actor: Actor
  /** The only access to the database. Inside a transaction it is the transaction, so that nothing can read or write outside it. */
  db: Connection
  deps: Deps
}

/** Context of work for one organization: every query is restricted to its id. */
export type Context = ServiceContext & { organization: { id: string; name: string; tier: Tier } }
