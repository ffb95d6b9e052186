import type { Readable } from 'node:stream'
import type { Connection, Statement } from '../db/client.ts'
import { type Mode, type TenantDb, tenantDb } from '../db/tenant-db.ts'
import type { KeyMode, Tier } from '../generated/prisma/client.ts'
import type { Languages } from './languages/languages.ts'
import type { Network } from './networks/ip-networks.ts'
import type { IdentityProviders, OperatorProvider } from './ports/identity-provider.ts'
import type { LogMessage } from './ports/log-events.ts'
import type { PrintedReport } from './ports/printed-report.ts'
import type { QuestionKinds, Random } from './ports/question-kind.ts'
import type { AccountLinkRef } from './secrets/account-tokens.ts'
import type { InvitationRef } from './secrets/invitation-tokens.ts'
import type { MediaLink } from './secrets/media-tokens.ts'

export type { Connection, KeyMode, Mode, Tier }

/** The durable queue, as far as the domain needs it. */
export type Queue = {
  /**
   * Adds sendings of invites' mails to the queue, by the transaction that makes them: both happen or neither does. A job with an id of its
   * own is added once.
   *
   * @param options.isPatient of what comes by itself: all others that wait are taken first.
   */
  invitationEmailJobs: (
    emails: { id: string; organizationId: string; startAfter?: Date; jobId?: string }[],
    options?: { isPatient?: boolean },
  ) => Promise<Statement>
  /** Adds mails of registrations in the same way. */
  enqueueRegistrationEmails: (db: Connection, registrations: { id: string; organizationId: string }[]) => Promise<void>
  /** Queues a check of the organization's waiting registrations, one job for all that arrive until it runs. */
  enqueueRegistrations: (db: Connection, organizationId: string) => Promise<void>
  /** Adds sendings of mails to members in the same way. */
  enqueueMemberEmails: (db: Connection, emails: { id: string; organizationId: string }[]) => Promise<void>
  /** Enqueues the processing of a mail event, in the transaction that stores it. */
  enqueueMailEvent: (db: Connection, id: string) => Promise<void>
  /** Makes mails due that wait for their next try: this one, or all. @returns how many. */
  bringMailForward: (emailId?: string) => Promise<number>
  /** Checks now whether an organization's delayed mails to candidates can be sent earlier. */
  bringDelayedMailForward: (db: Connection, organizationId: string) => Promise<void>
  /** Enqueues a batch of invites. The job is repeated if its process dies. */
  enqueueInviteBatch: (db: Connection, batch: { id: string; organizationId: string; isRetry?: boolean }) => Promise<void>
  /** Enqueues a bulk change of invites, in the same way. */
  enqueueBulkChange: (
    db: Connection,
    change: { id: string; organizationId: string; startAfter?: Date; isRetry?: boolean },
  ) => Promise<void>
  /** Enqueues the import of a file of questions, in the same way. */
  enqueueLibraryImport: (db: Connection, which: { organizationId: string; importId: string }) => Promise<void>
  /** Enqueues the rescoring of submissions by a corrected key. */
  enqueueAnswerKeyCorrection: (
    db: Connection,
    which: { organizationId: string; versionId: string; number: number },
  ) => Promise<void>
  /** Enqueues the deletion of test data created until then. The job is repeated if its process dies. */
  enqueueTestDataDeletion: (db: Connection, which: { organizationId: string; until: Date }) => Promise<void>
  /**
   * Enqueues an erasure, in the transaction that requests it. The job is repeated if its process dies.
   *
   * @param which.ahead number of the organization's other open erasures: the organization with the fewest goes next.
   */
  enqueueErasure: (db: Connection, which: { organizationId: string; erasureId: string; ahead: number }) => Promise<void>
  /** Schedules the next step of a suspension: a reminder to the owners, or the erasure. */
  enqueueSuspension: (db: Connection, which: { suspensionId: string; at: Date }) => Promise<void>
  /** Deletes what the queue holds of an organization, but for what is under way. @returns how many jobs are. */
  purgeOrganization: (organizationId: string) => Promise<number>
  /** Enqueues building an archive, likewise. */
  enqueueArchive: (db: Connection, which: { organizationId: string; archiveId: string }) => Promise<void>
  /**
   * Deletes what the queue holds of mails, and what it says of jobs, anybody's, that the regular expression matches.
   *
   * @returns how many jobs of the mails are under way.
   */
  purgeMails: (emailIds: readonly string[], pattern: string) => Promise<number>
  /** Enqueues joining a recording, in the transaction that completes it. The earliest due is joined first. */
  enqueueRecording: (
    db: Connection,
    recording: { mediaId: string; organizationId: string; assetOf?: string; key: string; dueAt: Date },
  ) => Promise<void>
  /** Enqueues a password reset for an address. A job looks up the account, so that the response time doesn't reveal whether it exists. */
  enqueuePasswordReset: (db: Connection, email: string) => Promise<void>
  /** Enqueues the record of a wrong password for an address, for the same reason in a job. */
  enqueueFailedSignIn: (db: Connection, email: string) => Promise<void>
}

/**
 * Store of photos and recordings. Keys are words of lower-case letters, digits, and hyphens, joined by slashes. Only pages that
 * have checked the reader serve from it.
 */
export type MediaStore = {
  /** Keeps the content under the key, in place of what was there. When it returns, the content outlives a crash; until then nothing of it is seen. */
  put: (key: string, content: Uint8Array | StoredFile) => Promise<void>
  /** The bytes from `start` to `end`, both included; null when there is nothing under the key. Whoever asks reads or destroys the stream. */
  get: (key: string, range?: { start: number; end: number }) => Promise<Readable | null>
  /** Bytes of what lies under the key; null when there is nothing. */
  size: (key: string) => Promise<number | null>
  /** All that there is, some at a time; what comes and goes meanwhile may be in it or not. */
  list: () => AsyncIterable<{ key: string; bytes: number }[]>
  /** It is no error that there was nothing. */
  delete: (key: string) => Promise<void>
  /** Deletes what lies below; the prefix ends with a slash. */
  deletePrefix: (prefix: string) => Promise<void>
  /** Bytes that it still takes; Infinity where that is not known. */
  free: () => Promise<number>
}
/** A file on this machine's disk. */
export type StoredFile = { path: string; bytes: number }

/**
 * Log of erasures outside of the database, so that a restored backup does not bring erased people back: the setting ERASURE_LOG.
 * When `append` resolves, its line survives a crash. `read` yields complete lines from the last to the first; null if there is no
 * file, or it belongs to another installation.
 */
export type ErasureLog = { append: (line: string) => Promise<void>; read: () => Promise<AsyncGenerator<string> | null> }

/** The numbering of events, as far as the domain needs it. */
export type EventSequence = {
  /** Events were committed, and are to be numbered soon. */
  recorded: () => void
  /** The highest position in the feed, as of a second ago or later. */
  head: () => bigint
}

/** A copy of the database that follows it some moments behind, and can't be written to. */
export type Replica = {
  db: Connection
  /** A position of the feed up to which it has all events, and what they tell of. */
  head: bigint
}

/**
 * Results of sending a mail, as they are counted. `failed`: refused by the mail server, or no retries left; `obsolete`: not sent, because its
 * link no longer worked.
 */
export const EMAIL_OUTCOMES = ['sent', 'captured', 'failed', 'retried', 'obsolete', 'suppressed'] as const

/** Results of a webhook delivery, as they are counted. */
export const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'retried'] as const

/** Results of a report to an applicant tracking system, as they are counted. */
export const REPORT_OUTCOMES = ['delivered', 'failed', 'retried'] as const

export const BREACH_OUTCOMES = ['found', 'not_found', 'failed'] as const

/** Results of joining a recording, as they are counted. `failed`: the recording is broken, or its parts are lost. */
export const JOIN_OUTCOMES = ['done', 'failed', 'retried'] as const

/** Database that answered a list: the primary takes over from a replica that can't. */
export const READ_FROM = ['replica', 'primary'] as const

/** The parts of the scheduled sweep, each a queue of its own: one that fails or hangs does not hold up the others. */
export const SWEEP_PARTS = [
  'expire_invites',
  'queue_reminders',
  'queue_digests',
  'queue_registrations',
  'fetch_bounces',
  'create_missing_submissions',
  'complete_due_submissions',
  'delete_expired_idempotency_records',
  'delete_expired_events',
  'delete_expired_deliveries',
  'delete_expired_ats_reports',
  'delete_expired_audit_entries',
  'delete_expired_batches',
  'delete_expired_emails',
  'delete_expired_registrations',
  'delete_expired_sign_ins',
  'check_sign_in_domains',
  'complete_abandoned_recordings',
  'delete_expired_media',
  'erase_due_invites',
  'erase_orphaned_accounts',
] as const
export type SweepPart = (typeof SWEEP_PARTS)[number]

/** The domain's metrics. */
export type Metrics = {
  inviteCreated: () => void
  emailAttempted: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  memberEmailAttempted: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  recordingJoined: (outcome: (typeof JOIN_OUTCOMES)[number]) => void
  webhookAttempted: (outcome: (typeof WEBHOOK_OUTCOMES)[number]) => void
  reportAttempted: (outcome: (typeof REPORT_OUTCOMES)[number]) => void
  /** An applicant tracking system has found an answer of the service wrong. */
  answerRefused: () => void
  breachLookedUp: (outcome: (typeof BREACH_OUTCOMES)[number]) => void
  swept: (part: SweepPart, outcome: 'done' | 'failed') => void
  eventsNumbered: (count: number) => void
  numberingFailed: () => void
  replicaRead: (answered: (typeof READ_FROM)[number]) => void
}

/** The log, with pino's methods; each message has its event, see ports/log-events.ts. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: LogMessage) => void>

export type CachedApiKey = {
  id: string
  mode: KeyMode
  rights: readonly string[]
  scopes: readonly string[]
  networks: readonly string[]
  /** From where its organization allows keys to be used, besides. */
  organizationNetworks: readonly string[]
  /** True if the organization is suspended: no key works. */
  isSuspended: boolean
  requestsPerMinute: number | null
  createdById: string | null
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  organization: { id: string; name: string; tier: Tier }
}

/** True if the password is in a breach; false if nobody is asked or replies. */
export type BreachedPasswords = (password: string) => Promise<boolean>

/** API keys by fingerprint; stale for no longer than a notification takes. */
export type ApiKeyCache = {
  get: (fingerprint: string) => CachedApiKey | undefined
  /** Caches what `load` finds, unless a key has changed in the meantime. */
  load: (fingerprint: string, load: () => Promise<CachedApiKey | null>) => Promise<CachedApiKey | null>
  /** Forgets all of them: called once a key is changed here, so that this process waits for no notification of it. */
  empty: () => void
}

/** Hosts and networks inside that webhooks may reach all the same: the setting WEBHOOK_ALLOW. */
export type Allowance = { hosts: ReadonlySet<string>; networks: readonly Network[] }

/**
 * Makes a PDF of a report, in its turn: those of whoever has none under way come first. @throws DomainError too_many_reports.
 *
 * @param asked by whom, and what tells that they have gone.
 */
export type TypesetReport = (
  report: PrintedReport,
  asked: { whose: string; signal?: AbortSignal | undefined },
) => Promise<Uint8Array>

/**
 * Makes the file of an archive, see domain/archives.
 *
 * @param whose a candidate's address, in lower case, or a member of the organization, who asks for it or not.
 * @param write takes its bytes, one after another; done when there is room for more.
 */
export type WriteArchive = (
  ctx: Context,
  whose: { address: string } | { memberId: string; isOwn: boolean },
  write: (bytes: Uint8Array) => Promise<void>,
) => Promise<void>

/** The applicant tracking systems (ATS) that there are connections to. */
export const ATS_SYSTEMS = ['greenhouse', 'ashby', 'recruitee'] as const
export type Ats = (typeof ATS_SYSTEMS)[number]

/** Operator's settings by recruiting system. A system without settings is switched off and hidden. */
export type AtsSettings = {
  greenhouse?: object | undefined
  /** `url`: of its API. */
  ashby?: { url: string } | undefined
  /** `url`: below which its reports lie. */
  recruitee?: { url: string; secret: string } | undefined
  /** Hosts besides those of the ATS that may be reported to. */
  callbackHosts: ReadonlySet<string>
}

/** Links: but for the last five they open something for whoever has them, are not logged, and stored nowhere. */
export type Links = {
  /** Envelope sender of a mail, to which bounces are sent. */
  bounceAddress: (emailId: string, domain: string) => string
  /** To the candidate's page. */
  invitationUrl: (invite: InvitationRef) => string
  /** To where the candidate of an invite stops mails. */
  unsubscribeUrl: (inviteId: string) => string
  /** Open link of an assessment, for everybody. */
  openUrl: (token: string) => string
  /** To where a person who has registered by an open link begins. */
  registrationUrl: (registrationId: string) => string
  /** To where a member joins, or sets a new password. */
  accountUrl: (link: AccountLinkRef) => string
  /** To a recording, for a while. */
  mediaUrl: (link: MediaLink) => string
  /** To a page of an organization in the portal, for who is signed in: by itself it opens nothing. */
  portalUrl: (where: { organization: { id: string }; mode: Mode }, page: string) => string
  /** Addresses for an identity provider. They grant nothing by themselves. */
  signInUrl: (providerId: string, part?: 'callback' | 'initiate' | 'logout') => string
  /** To the page of a released result, for who is signed in and may see it: by itself it opens nothing. */
  resultUrl: (result: { organization: { id: string }; mode: Mode; submissionId: string }) => string
  /** To where a new password is asked for. */
  forgotUrl: () => string
  /** To the picture of an organization's logo, for everybody. */
  logoUrl: (logo: { organizationId: string; hash: string }) => string
  /** To the page that says that a mail was a test. */
  testUrl: () => string
}

/** Everything external that domain functions use, except the database; time, ids and the queue are injected so that tests can set them. */
export type Deps = {
  apiKeyCache: ApiKeyCache
  queue: Queue
  events: EventSequence
  /** Replica for lists; undefined if there is none or it lags too far. */
  replica: () => Replica | undefined
  media: MediaStore
  erasureLog: ErasureLog
  /** For how long backups hold what is erased, as the operator says. */
  backupsKeptDays: number
  /** Bytes that the media of one organization may have. */
  mediaQuota: number
  /** True if candidates take assessments on the service's own pages, false for an external player. */
  hasOwnPlayer: boolean
  /** Mails to candidates: how many an organization may send within 24 hours (0: any number), and whether those of that mode are captured. */
  candidateMails: { perDay: number; isCaptured: (mode: KeyMode) => boolean }
  /** Mails that the open links of one organization may send, besides its mails to invited candidates. */
  openLinkMails: { perHour: number; perDay: number }
  links: Links
  /** Public address, without a trailing slash. With PORT=0 known only once the service listens. */
  site: { readonly publicUrl: string }
  typesetReport: TypesetReport
  writeArchive: WriteArchive
  /** Keys that encrypt stored secrets, newest first: the first encrypts, any decrypts. */
  secretKeys: readonly string[]
  /** Addresses for webhooks besides public ones. */
  webhookAllowance: Allowance
  /** Addresses for identity providers besides public ones: the setting SSO_ALLOW. */
  ssoAllowance: Allowance
  identityProviders: IdentityProviders
  /** Identity providers for all organizations: the settings GOOGLE_… and MICROSOFT_…. */
  operatorProviders: readonly OperatorProvider[]
  isBreached: BreachedPasswords
  ats: AtsSettings
  /** The languages that there are. */
  languages: Languages
  clock: () => Date
  newId: () => string
  /** The kinds of questions that have a right answer. */
  kinds: QuestionKinds
  /** For what is shuffled. */
  random: Random
  log: Log
  metrics: Metrics
  traffic: Traffic
}

/** When this process last answered a request, as `performance.now()` has it. */
export type Traffic = { answeredAt: number }

/** Acting person or program. Permissions: authorization/permissions.ts. */
export type Actor =
  /**
   * A system with an API key; `createdById` is the member who generated the key. `rights`: what it may do besides; unknown words allow nothing.
   * `scopes`: what it is restricted to; none: it may do what all keys may. `requestsPerMinute`: its own share of the organization's; none:
   * all of it.
   */
  | {
      kind: 'apiKey'
      id: string
      mode: KeyMode
      createdById: string | null
      rights?: readonly string[]
      scopes?: readonly string[]
      requestsPerMinute?: number | null
    }
  /** An ATS with the key of a connection, see domain/ats; `createdById` as above. */
  | { kind: 'ats'; id: string; ats: Ats; connectionId: string; mode: KeyMode; createdById: string | null }
  /** A person who is signed in to the portal, as the member they are of the organization. */
  | {
      kind: 'member'
      id: string
      userId: string
      roles: string[]
      /** See PORTAL_ROLES in authorization/permissions.ts; of admins, owner too as long as nobody was named one. */
      portalRoles?: readonly string[]
      /** The API key that has it done in the member's name, on test data: see domain/test-data. */
      simulatedBy?: string
      /** The API key that does it in the member's name, and that events and the audit log name: see submissions/grading/grade-for-members. */
      viaKey?: string
    }
  /** A person who begins an assessment by an open link, see open-links/begin.ts. */
  | { kind: 'visitor' }
  /** The person behind an invitation's link. */
  | { kind: 'candidate'; inviteId: string }
  /** The operator, by the command line. */
  | { kind: 'operator' }
  /** The service itself: its jobs, its clock. */
  | { kind: 'system' }

/** From where something is done, as the audit log keeps it. */
export type RequestOrigin = { address: string; userAgent: string; sessionId: string | null; requestId: string }

/** Context of work that does not belong to one organization. */
export type ServiceContext = {
  actor: Actor
  /** Only for requests. */
  origin?: RequestOrigin | undefined
  /** Bulk change that the work is part of: the audit log groups its entries. */
  bulkChangeId?: string
  /** The only access to the database. Inside a transaction it is the transaction, so that nothing can read or write outside it. */
  db: Connection
  deps: Deps
}

declare const entered: unique symbol
/** Made by {@link enterOrganization} and {@link inMode} only, so that `{ ...ctx, mode }` with the database of another mode does not compile. */
type ScopedContext<T> = T & { [entered]: true }

/** Context of work for one organization: every query is restricted to its id, and to the data that the actor sees. */
export type Context = ServiceContext & {
  organization: { id: string; name: string; tier: Tier }
  /** Mode of the rows in scope: live, test, or both for the service itself. */
  mode: ScopedContext<Mode>
  /** Limited to the organization and the mode: whoever changes one of these does it by {@link enterOrganization} or {@link inMode}. */
  db: TenantDb
  /** Replica of a request, chosen once, so that all parts of its response are equally recent, see replica.ts. */
  replica?: Replica | undefined
  /** Aborts when the client disconnects before its response, for work that can be stopped. */
  signal?: AbortSignal | undefined
}

/** The context of work for an organization: on live and test data, if nothing else is said. */
export const enterOrganization = <Service extends ServiceContext, Organization extends { id: string }>(
  service: Service,
  organization: Organization,
  mode: Mode = 'all',
): Service & { organization: Organization } & Pick<Context, 'mode' | 'db'> => ({
  ...service,
  organization,
  mode: mode as ScopedContext<Mode>,
  db: tenantDb(service.db, { organization, mode }),
})

/** The same context for data of another mode. */
export const inMode = <Ctx extends Context>(ctx: Ctx, mode: Mode): Ctx => ({
  ...ctx,
  mode: mode as ScopedContext<Mode>,
  db: tenantDb(ctx.db, { ...ctx, mode }),
})
