import type { QueuedRef } from '../domain/concurrency/queued-ref.ts'
import type { EMAIL_OUTCOMES, ServiceContext } from '../domain/context.ts'
import type { Verdict } from '../domain/mails/mail-outage.ts'
import type { Outcome } from '../domain/mails/sendings.ts'

/** A mail as its record has it. */
export type Email = { id: string; organizationId: string; state: string }

/** How one kind of mail leaves. */
export type Deliver<E> = {
  /** Whether it is only captured, so that the mail server has no part in it. */
  isCaptured: (email: E) => boolean
  /** Renders it, and hands it to the mail server. @throws Error when it can not be rendered. */
  send: (email: E) => Promise<Verdict>
}

/** A mail that may leave now; `until` when it may not. What is admitted is released when its outcome is recorded. */
export type Admission = { until: Date } | { until: null; release: () => void }

export type Rank = 0 | 1 | 2

/** A kind of mail: where its jobs and records are, and what is sent of it. */
export type Mailing<E extends Email> = {
  /** What one is called in the log. */
  noun: 'an invitation' | 'a mail to a member'
  queue: string
  /** Where jobs go whose retries are used up. */
  deadQueue: string
  /** Its place among those that wait for the mail server, the lowest first: 0, where somebody waits for it at a form; 2 of what comes by itself. */
  rankOf: (email: E) => Rank
  /** The records of these that there are, in no particular order. */
  find: (system: ServiceContext, refs: QueuedRef[]) => Promise<E[]>
  /** Why it is not to be sent any more; null while it is. */
  whyObsolete: (email: E, now: Date) => string | null
  /** Why nothing is to be written to its address; null where it may be. */
  whySuppressed: (system: ServiceContext, email: E) => Promise<string | null>
  /** Whether it waits for its organization: it takes no place in the line. */
  isHeld: (email: E) => boolean
  /** Has those that are held looked at again later, all by a few statements. @param jobIds of the jobs that do it, in their order: once more changes nothing. */
  putOff: (system: ServiceContext, emails: E[], jobIds: string[]) => Promise<void>
  /** Whether enough mails were sent for now. */
  admit: (system: ServiceContext, email: E) => Promise<Admission>
  deliver: Deliver<E>
  record: (system: ServiceContext, email: E, outcome: Outcome) => Promise<void>
  giveUp: (system: ServiceContext, ref: QueuedRef) => Promise<void>
  count: (outcome: (typeof EMAIL_OUTCOMES)[number]) => void
  /** Its ids, for the log. */
  idsOf: (email: E) => object
}
