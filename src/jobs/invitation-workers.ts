import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { delayEmails, findEmails, giveUpEmail, type InviteEmail, recordEmailAttempt } from '../domain/invites/emails.ts'
import { withCurrentStatus } from '../domain/invites/expiry.ts'
import { createMailLimiter, type MailLimits } from '../domain/invites/mail-limits.ts'
import { findOutdatedReason, findReminderDelay } from '../domain/invites/reminders/reminder-due.ts'
import { findSuppressionReason } from '../domain/invites/suppressions.ts'
import { isAutomatic, isNotice, WITHDRAWAL_KIND } from '../domain/mails/candidate-mails.ts'
import type { MailDispatcher } from './mail-dispatcher.ts'
import { startMailWorkers } from './mail-workers.ts'
import type { MailDelivery, MailKind } from './mailing.ts'
import { DEAD_INVITATION_EMAILS, INVITATION_EMAILS } from './queue.ts'

/** Starts the workers that send mails to candidates. They end with `boss.stop()`. */
export const startInvitationWorkers = (
  boss: PgBoss,
  system: ServiceContext,
  { deliver, dispatcher, ceilings }: { deliver: MailDelivery<InviteEmail>; dispatcher: MailDispatcher; ceilings: MailLimits },
): Promise<void> =>
  startMailWorkers(
    boss,
    system,
    {
      noun: 'an invitation',
      queue: INVITATION_EMAILS,
      deadQueue: DEAD_INVITATION_EMAILS,
      rankOf: ({ kind }) => (isAutomatic(kind) ? 2 : 1),
      find: findEmails,
      whyObsolete,
      whySuppressed: findSuppressionReason,
      isSuspended: (email) => isSuspended(email) && !deliver.isCaptured(email),
      postpone: (context, emails, jobIds) => delayEmails(context, emails, { until: nextSuspensionCheck(context), jobIds }),
      admit: admitWithin(createMailLimiter(ceilings)),
      deliver,
      record: recordEmailAttempt,
      giveUp: giveUpEmail,
      count: system.deps.metrics.emailAttempted,
      idsOf: ({ inviteId, organizationId }) => ({ inviteId, organizationId }),
    },
    dispatcher,
  )

/** Reason not to send: the link would no longer work, or an automatic mail is outdated. */
function whyObsolete(email: InviteEmail, now: Date): string | null {
  const { invite, linkVersion, kind } = email
  const { status } = withCurrentStatus(invite, now)
  if (kind === WITHDRAWAL_KIND) {
    if (status !== 'revoked') return 'Not sent: the invite is open again.'
    return email.invitation === 'none' ? 'Not sent: the candidate was never sent the invitation.' : null
  }
  const isOver = status === 'revoked' || status === 'expired' || (status === 'completed' && !isNotice(kind))
  if (isOver) return `Not sent: the invite is ${status}.`
  if (invite.linkVersion !== linkVersion) return 'Not sent: the invite has been reactivated with a new link.'
  return findOutdatedReason(email, now)
}

/** Milliseconds after which a suspended organization's mails are checked again: the suspension may have been lifted. */
const SUSPENSION_CHECK_MS = 600_000

const isSuspended = ({ invite }: InviteEmail): boolean => invite.organization.suspension !== null
const nextSuspensionCheck = ({ deps }: ServiceContext): Date => new Date(deps.clock().getTime() + SUSPENSION_CHECK_MS)

/** Milliseconds after which a withdrawal checks again whether its invitation was sent. */
const WITHDRAWAL_CHECK_MS = 15_000

/** Makes withdrawals wait while their invitation is queued, reminders for their hours, and all mails while the organization is suspended. */
const admitWithin =
  (admit: MailKind<InviteEmail>['admit']): MailKind<InviteEmail>['admit'] =>
  async (system, email) => {
    if (isSuspended(email)) return { until: nextSuspensionCheck(system) }
    if (email.invitation === 'queued') return { until: new Date(system.deps.clock().getTime() + WITHDRAWAL_CHECK_MS) }
    const until = await findReminderDelay(system, email)
    return until ? { until } : admit(system, email)
  }
