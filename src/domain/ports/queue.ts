import type { Connection, Statement } from '../../db/client.ts'

/** The durable queue, as far as the domain needs it. */
export type Queue = {
  /**
   * Statement that enqueues emails to candidates, to run in the transaction that creates them. A job with a `jobId` is added once.
   *
   * @param options.isPatient true for emails that nobody waits for, such as reminders: all others are sent first.
   */
  invitationEmailJobs: (
    emails: { id: string; organizationId: string; startAfter?: Date; jobId?: string }[],
    options?: { isPatient?: boolean },
  ) => Promise<Statement>
  /** Enqueues emails to people who registered by an open link. */
  enqueueRegistrationEmails: (db: Connection, registrations: { id: string; organizationId: string }[]) => Promise<void>
  /** Queues a check of the organization's waiting registrations, one job for all that arrive until it runs. */
  enqueueRegistrations: (db: Connection, organizationId: string) => Promise<void>
  /** Enqueues emails to members. */
  enqueueMemberEmails: (db: Connection, emails: { id: string; organizationId: string }[]) => Promise<void>
  /** Enqueues the processing of a mail event, in the transaction that stores it. */
  enqueueMailEvent: (db: Connection, id: string) => Promise<void>
  /** Retries one waiting email, or all of them, now. @returns their number. */
  bringMailForward: (emailId?: string) => Promise<number>
  /** Checks now whether an organization's delayed mails to candidates can be sent earlier. */
  bringDelayedMailForward: (db: Connection, organizationId: string) => Promise<void>
  /** Enqueues a batch of invites. The job is repeated if its process dies. */
  enqueueInviteBatch: (db: Connection, batch: { id: string; organizationId: string; isRetry?: boolean }) => Promise<void>
  /** Enqueues a bulk change of invites. */
  enqueueBulkChange: (
    db: Connection,
    change: { id: string; organizationId: string; startAfter?: Date; isRetry?: boolean },
  ) => Promise<void>
  /** Enqueues the import of a file of questions. */
  enqueueLibraryImport: (db: Connection, job: { organizationId: string; importId: string }) => Promise<void>
  /** Enqueues the rescoring of submissions by a corrected key. */
  enqueueAnswerKeyCorrection: (
    db: Connection,
    job: { organizationId: string; versionId: string; number: number },
  ) => Promise<void>
  /** Enqueues the deletion of test data created until then. The job is repeated if its process dies. */
  enqueueTestDataDeletion: (db: Connection, job: { organizationId: string; until: Date }) => Promise<void>
  /**
   * Enqueues an erasure, in the transaction that requests it. The job is repeated if its process dies.
   *
   * @param which.ahead number of the organization's other open erasures: the organization with the fewest goes next.
   */
  enqueueErasure: (db: Connection, job: { organizationId: string; erasureId: string; ahead: number }) => Promise<void>
  /** Schedules the next step of a suspension: a reminder to the owners, or the erasure. */
  enqueueSuspension: (db: Connection, job: { suspensionId: string; at: Date }) => Promise<void>
  /** Deletes the organization's jobs, except running ones. @returns the number of running jobs. */
  purgeOrganization: (organizationId: string) => Promise<number>
  /** Enqueues building an archive. */
  enqueueArchive: (db: Connection, job: { organizationId: string; archiveId: string }) => Promise<void>
  /**
   * Deletes the jobs of these emails, and the output of any job that matches the regular expression `pattern`. Running jobs stay.
   *
   * @returns the number of running jobs for these emails.
   */
  purgeMails: (emailIds: readonly string[], pattern: string) => Promise<number>
  /** Enqueues joining a recording, in the transaction that completes it. The earliest due is joined first. */
  enqueueRecording: (
    db: Connection,
    recording: { mediaId: string; organizationId: string; assetOf?: string; key: string; dueAt: Date },
  ) => Promise<void>
  /**
   * Enqueues the transcription of a recording, in the transaction that marks it as queued. The earliest due goes first.
   *
   * @param recording.isPrompt true for a question's audio or video: then `mediaId` is an asset's.
   */
  enqueueTranscript: (
    db: Connection,
    recording: { mediaId: string; organizationId: string; dueAt: Date; isPrompt?: boolean },
  ) => Promise<void>
  /** Enqueues a password reset for an address. A job looks up the account, so that the response time doesn't reveal whether it exists. */
  enqueuePasswordReset: (db: Connection, email: string) => Promise<void>
  /** Enqueues the record of a wrong password for an address, for the same reason in a job. */
  enqueueFailedSignIn: (db: Connection, email: string) => Promise<void>
}
