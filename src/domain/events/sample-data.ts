import { modeOf } from '../authorization/author.ts'
import type { Context } from '../context.ts'
import type { EventData, EventType } from './event.ts'

const DAY_MS = 86_400_000

/** Data of an event of a type, about an invite that does not exist. */
export function createSampleData<Type extends EventType>(ctx: Context, type: Type): EventData[Type] {
  const { newId, clock, links } = ctx.deps
  const [inviteId, submissionId, emailId] = [newId(), newId(), newId()]
  const invite = { inviteId, assessmentId: newId(), externalId: 'application-4711', metadata: { job: 'Support engineer' } }
  const pending = { ...invite, status: 'pending' as const }
  const completed = { ...invite, status: 'completed' as const }
  const now = clock().getTime()
  const [expiresAt, laterExpiry] = [7, 14].map((days) => new Date(now + days * DAY_MS).toISOString()) as [string, string]
  const reportUrl = links.resultUrl({ organization: ctx.organization, mode: ctx.mode, submissionId })
  const samples: EventData = {
    'invite.created': { ...pending, mode: modeOf(ctx), source: 'api' },
    'invite.accepted': { ...invite, status: 'accepted' },
    'invite.started': { ...invite, status: 'started', submissionId },
    'invite.completed': { ...completed, submissionId },
    'invite.declined': { ...invite, status: 'revoked' },
    'invite.revoked': { ...invite, status: 'revoked' },
    'invite.reactivated': { ...pending, expiresAt },
    'invite.extended': { ...pending, expiresAt },
    'invite.resent': pending,
    'invite.updated': { ...pending, changes: { expiresAt: { before: laterExpiry, after: expiresAt } } },
    'invite.expired': { ...invite, status: 'expired' },
    'email.sent': { ...pending, emailId },
    'email.failed': { ...pending, emailId, reason: 'refused' },
    'email.bounced': { ...pending, emailId, bounce: 'address', bounceStatus: '5.1.1' },
    'email.complained': { ...pending, emailId },
    'email.unsubscribed': { ...pending, scope: 'reminders' },
    'reminder.sent': { ...pending, emailId },
    'submission.released': { ...completed, submissionId, percent: 82.5, reportUrl },
    'submission.decided': { ...completed, submissionId, decision: 'shortlist' },
    'submission.media_deleted': { ...completed, submissionId, kinds: ['answer', 'webcam'] },
    'invite.erased': { inviteId },
  }
  return samples[type]
}
