import type { MemberEmail } from '../domain/access/member-emails.ts'
import type { InviteEmail } from '../domain/invites/emails.ts'
import type { Deliver } from '../jobs/send-mail.ts'
import { renderInvitation } from '../mail/invitation-email.ts'
import type { Mailer } from '../mail/mailer.ts'
import { renderMemberEmail } from '../mail/member-email.ts'
import type { MailSettings, Message } from '../mail/message.ts'
import type { Config } from './config.ts'

/** Hands each invitation to the mail server, or captures it: where there is no server, and of test invites unless `deliverTestMail`. */
export const deliverInvitationsWith =
  (mailer: Mailer, settings: MailSettings, { deliverTestMail }: Pick<Config, 'deliverTestMail'>): Deliver<InviteEmail> =>
  async (email) => {
    const message = renderInvitation(settings, email)
    return email.invite.mode === 'test' && !deliverTestMail ? { state: 'captured' } : deliver(mailer, message)
  }

/** The same for mails to members, of which none is a test. */
export const deliverMemberEmailsWith =
  (mailer: Mailer, settings: MailSettings): Deliver<MemberEmail> =>
  async (email) =>
    deliver(mailer, renderMemberEmail(settings, email))

async function deliver(mailer: Mailer, message: Message): ReturnType<Deliver<unknown>> {
  if (!mailer.delivers) return { state: 'captured' }
  const refusal = await mailer.send(message)
  return refusal === null ? { state: 'sent' } : { state: 'failed', failure: 'refused', reason: refusal }
}
