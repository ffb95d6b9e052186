import type { QueuedRef } from '../domain/concurrency/queued-ref.ts'
import type { ServiceContext } from '../domain/context.ts'
import type { Verdict } from '../domain/mails/mail-outage.ts'
import type { SendOutcome } from '../domain/mails/send-outcome.ts'
import type { EMAIL_OUTCOMES } from '../domain/ports/metrics.ts'

export type QueuedMail = { id: string; organizationId: string; state: string }

export type MailDelivery<E> = {
  /** True if the mail is only stored, so that the mail server is not needed. */
  isCaptured: (email: E) => boolean
  /** Renders the mail and sends it. @throws Error if it can't be rendered. */
  send: (email: E) => Promise<Verdict>
}

/** `until` is set if the mail has to wait. Call `release` once the outcome is recorded. */
export type Admission = { until: Date } | { until: null; release: () => void }

export type Rank = 0 | 1 | 2

/** Everything that differs between invitations, mails to members, and mails of open links. */
export type MailKind<E extends QueuedMail> = {
  /** Name in log lines. */
  noun: 'an invitation' | 'a mail to a member' | 'a mail of an open link'
  queue: string
  /** Receives jobs without retries left. */
  deadQueue: string
  /** Priority, lowest first. 0: somebody waits at a form. 2: automatic mails. */
  rankOf: (email: E) => Rank
  /** The existing rows, in any order. */
  find: (system: ServiceContext, refs: QueuedRef[]) => Promise<E[]>
  /** Reason not to send the mail any more, or null. */
  whyObsolete: (email: E, now: Date) => string | null
  /** Reason not to write to this address, or null. */
  whySuppressed: (system: ServiceContext, email: E) => Promise<string | null>
  /** True while the organization is suspended: the mail doesn't enter the dispatcher. */
  isSuspended: (email: E) => boolean
  /** Postpones these mails in a few statements. @param jobIds ids of the jobs that retry them, in the same order; repeating has no effect. */
  postpone: (system: ServiceContext, emails: E[], jobIds: string[]) => Promise<void>
  /** Applies the sending limits. */
  admit: (system: ServiceContext, email: E) => Promise<Admission>
  deliver: MailDelivery<E>
  record: (system: ServiceContext, email: E, outcome: SendOutcome) => Promise<void>
  giveUp: (system: ServiceContext, ref: QueuedRef) => Promise<void>
  count: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  /** Ids for the log. */
  idsOf: (email: E) => object
}
