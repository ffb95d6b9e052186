/**
 * Results of sending a mail, as they are counted. `failed`: refused by the mail server, or no retries left; `obsolete`: not sent, because its
 * link no longer worked.
 */
export const EMAIL_OUTCOMES = ['sent', 'captured', 'failed', 'retried', 'obsolete', 'suppressed'] as const

/**
 * Outcomes of a form of an open link: stored with a proof of work or without one, or not stored because its fields are wrong, a limit is
 * reached, or the link is closed; then mailed, or dropped without a mail; then begun, or refused by the reader of the mail.
 */
export const REGISTRATION_OUTCOMES = [
  'proven',
  'unproven',
  'invalid',
  'limited',
  'closed',
  'mailed',
  'dropped',
  'begun',
  'refused',
] as const
export type RegistrationOutcome = (typeof REGISTRATION_OUTCOMES)[number]

/** Results of a webhook delivery, as they are counted. */
export const WEBHOOK_OUTCOMES = ['delivered', 'failed', 'retried'] as const

/** Results of a report to an applicant tracking system, as they are counted. */
export const REPORT_OUTCOMES = ['delivered', 'failed', 'retried'] as const

export const BREACH_OUTCOMES = ['found', 'not_found', 'failed'] as const

/** Results of joining a recording, as they are counted. `failed`: the recording is broken, or its parts are lost. */
export const JOIN_OUTCOMES = ['done', 'failed', 'retried'] as const

/** Counted outcomes of a transcription. `silent`: the recording was not sent. `unavailable`: to be retried. */
export const TRANSCRIPTION_OUTCOMES = ['ready', 'silent', 'failed', 'unavailable'] as const

/** Database that answered a list: the primary takes over from a replica that can't. */
export const READ_FROM = ['replica', 'primary'] as const

/** Parts of the scheduled sweep. Each has its own queue, so that a failing part doesn't delay the others. */
export const SWEEP_PARTS = [
  'expire_invites',
  'queue_reminders',
  'queue_digests',
  'queue_registrations',
  'fetch_bounces',
  'create_missing_submissions',
  'complete_due_submissions',
  'assign_answers',
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
  'queue_transcripts',
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
  registered: (outcome: RegistrationOutcome, count?: number) => void
  recordingJoined: (outcome: (typeof JOIN_OUTCOMES)[number]) => void
  recordingTranscribed: (outcome: (typeof TRANSCRIPTION_OUTCOMES)[number]) => void
  webhookAttempted: (outcome: (typeof WEBHOOK_OUTCOMES)[number]) => void
  reportAttempted: (outcome: (typeof REPORT_OUTCOMES)[number]) => void
  /** An applicant tracking system reported that it could not use a response. */
  answerRefused: () => void
  breachLookedUp: (outcome: (typeof BREACH_OUTCOMES)[number]) => void
  swept: (part: SweepPart, outcome: 'done' | 'failed') => void
  eventsNumbered: (count: number) => void
  numberingFailed: () => void
  replicaRead: (answered: (typeof READ_FROM)[number]) => void
}
