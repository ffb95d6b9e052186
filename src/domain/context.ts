import type { Connection } from '../db/client.ts'
import { type Mode, type TenantDb, tenantDb } from '../db/tenant-db.ts'
import type { KeyMode, Tier } from '../generated/prisma/client.ts'
import type { Actor } from './actor.ts'
import type { Languages } from './languages/choose-language.ts'
import type { Allowance } from './networks/allowance.ts'
import type { ApiKeyCache } from './ports/api-key-cache.ts'
import type { AtsSettings } from './ports/ats-settings.ts'
import type { BreachedPasswords } from './ports/breached-passwords.ts'
import type { ErasureLog } from './ports/erasure-log.ts'
import type { EventSequence } from './ports/event-sequence.ts'
import type { IdentityProviders, OperatorProvider } from './ports/identity-provider.ts'
import type { Links } from './ports/links.ts'
import type { Log } from './ports/log-events.ts'
import type { MediaStore } from './ports/media-store.ts'
import type { Metrics } from './ports/metrics.ts'
import type { TypesetReport } from './ports/printed-report.ts'
import type { QuestionKinds, Random } from './ports/question-kind.ts'
import type { Queue } from './ports/queue.ts'
import type { Replica } from './ports/replica.ts'
import type { Transcriber } from './ports/transcriber.ts'

export type { Connection, KeyMode, Mode, Tier }

/** Origin of a request, for the audit log. */
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
  /** Scoped to the organization and the mode. To change one of them, use {@link enterOrganization} or {@link inMode}. */
  db: TenantDb
  /** Replica of a request, chosen once, so that all parts of its response are equally recent, see replica.ts. */
  replica?: Replica | undefined
  /** Aborts when the client disconnects before its response, for work that can be stopped. */
  signal?: AbortSignal | undefined
}

/** Context for an organization; the default covers live and test data. */
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

/** The running build. @property commit undefined if unknown. */
export type Release = { version: string; commit: string | undefined }

/** Everything external that domain functions use, except the database; time, ids and the queue are injected so that tests can set them. */
export type Deps = {
  release: Release
  apiKeyCache: ApiKeyCache
  queue: Queue
  events: EventSequence
  /** Replica for lists; undefined without one, or while it lags too far behind. */
  replica: () => Replica | undefined
  media: MediaStore
  /** Speech recognition service of the operator; undefined: none is connected. */
  transcriber: Transcriber | undefined
  erasureLog: ErasureLog
  /** Days for which backups may contain erased data: the setting BACKUPS_KEPT_DAYS. */
  backupsKeptDays: number
  /** Bytes of media per organization. */
  mediaQuota: number
  /** True if candidates take assessments on the service's own pages, false for an external player. */
  hasOwnPlayer: boolean
  /** `perDay`: emails to candidates per organization and 24 hours (0: no limit). `isCaptured`: emails of the mode are shown, not sent. */
  candidateMails: { perDay: number; isCaptured: (mode: KeyMode) => boolean }
  /** Limits of emails by open links, per organization; they don't count towards `candidateMails`. */
  openLinkMails: { perHour: number; perDay: number }
  links: Links
  /** Public address, without a trailing slash. With PORT=0 known only once the service listens. */
  site: { readonly publicUrl: string }
  typesetReport: TypesetReport
  writeArchive: WriteArchive
  /** Keys that encrypt stored secrets, newest first: the first encrypts, any decrypts. */
  secretKeys: readonly string[]
  /** Private addresses that webhooks may reach: the setting WEBHOOK_ALLOW. */
  webhookAllowance: Allowance
  /** Private addresses of identity providers: the setting SSO_ALLOW. */
  ssoAllowance: Allowance
  identityProviders: IdentityProviders
  /** Identity providers for all organizations: the settings GOOGLE_… and MICROSOFT_…. */
  operatorProviders: readonly OperatorProvider[]
  isBreached: BreachedPasswords
  /** Scrypt's parameters for new hashes of passwords. */
  passwordCost: { N: number; r: number; p: number }
  ats: AtsSettings
  languages: Languages
  clock: () => Date
  newId: () => string
  /** The kinds of questions that have a right answer. */
  kinds: QuestionKinds
  /** Shuffles questions and options. */
  random: Random
  log: Log
  metrics: Metrics
  traffic: Traffic
}

/** `answeredAt`: time of the last response of this process, by `performance.now()`. */
export type Traffic = { answeredAt: number }

/**
 * Writes the ZIP file of an archive, see domain/archives.
 *
 * @param subject the candidate's address in lower case, a member, or the organization. `isOwn`: the member requested it themselves.
 * @param write resolves when it can take the next bytes.
 */
export type WriteArchive = (
  ctx: Context,
  subject: { address: string } | { memberId: string; isOwn: boolean } | { hasTranscripts: boolean },
  write: (bytes: Uint8Array) => Promise<void>,
) => Promise<void>
