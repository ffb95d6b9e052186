import { escapeLike } from '../../db/query.ts'
import type { EmailFailure } from '../../generated/prisma/client.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'

// Shared by mails to candidates and to members.

/** Outcome of one attempt: accepted by the server, captured, failed for good, to be retried, or postponed to another day. */
export type SendOutcome =
  | { state: 'sent' | 'captured' }
  /** @property jobId job that checks it again. */
  | { state: 'delayed'; until: Date; jobId: string }
  | { state: 'failed'; failure: EmailFailure; reason: string }
  | { state: 'queued'; reason: string }

/** Queued mails: how many, and the time of the oldest. */
export type EmailQueue = { waiting: number; oldest: Date | null }

/** Failed mails in all, and the mails refused by the mail server, given up, and sent since some time. */
export type FailedEmails = { failed: number; refused: number; givenUp: number; sent: number }

/** Selects mails to queue again: failed or captured ones, by words of the reason, and by time. */
export type RetrySelection = { state?: 'failed' | 'captured'; reason?: string; since?: Date }

/** Prisma's filter of them. */
export const toRetry = ({ state = 'failed', reason, since }: RetrySelection) =>
  omitUndefined({
    state,
    reason: reason === undefined ? undefined : { contains: escapeLike(reason), mode: 'insensitive' as const },
    updatedAt: since === undefined ? undefined : { gte: since },
  })
