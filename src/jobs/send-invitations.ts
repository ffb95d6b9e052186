import type { PgBoss } from 'pg-boss'
import type { ServiceContext } from '../domain/context.ts'
import { findEmails, giveUpEmail, type InviteEmail, recordAttempt } from '../domain/invites/emails.ts'
import { asOfNow } from '../domain/invites/expiry.ts'
import { createCeilings, type MailCeilings } from '../domain/invites/mail-ceilings.ts'
import type { Line } from './line.ts'
import type { Deliver } from './mailing.ts'
import { DEAD_INVITATION_EMAILS, INVITATION_EMAILS } from './queue.ts'
import { startSending } from './send-mail.ts'

/** Starts the workers that send the invites' mails. They end with `boss.stop()`. */
export const startSendingInvitations = (
  boss: PgBoss,
  system: ServiceContext,
  { deliver, line, ceilings }: { deliver: Deliver<InviteEmail>; line: Line; ceilings: MailCeilings },
): Promise<void> =>
  startSending(
    boss,
    system,
    {
      noun: 'an invitation',
      queue: INVITATION_EMAILS,
      deadQueue: DEAD_INVITATION_EMAILS,
      isUrgent: false,
      find: findEmails,
      whyObsolete,
      admit: createCeilings(ceilings),
      deliver,
      record: recordAttempt,
      giveUp: giveUpEmail,
      count: system.deps.metrics.emailAttempted,
      idsOf: ({ inviteId, organizationId }) => ({ inviteId, organizationId }),
    },
    line,
  )

/** A mail whose link would be dead on arrival is not sent. */
function whyObsolete({ invite, linkVersion }: InviteEmail, now: Date): string | null {
  const { status } = asOfNow(invite, now)
  if (status === 'revoked' || status === 'expired' || status === 'completed') return `Not sent: the invite is ${status}.`
  if (invite.linkVersion !== linkVersion) return 'Not sent: the invite has been reactivated with a new link.'
  return null
}
