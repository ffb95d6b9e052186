import type { DeliverInvitation } from '../jobs/send-invitations.ts'
import { type MailSettings, renderInvitation } from '../mail/invitation-email.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Config } from './config.ts'

/** Hands each mail to the mail server, or captures it: where there is no server, and of test invites unless `deliverTestMail`. */
export const deliverWith =
  (mailer: Mailer, settings: MailSettings, { deliverTestMail }: Pick<Config, 'deliverTestMail'>): DeliverInvitation =>
  async (email) => {
    const message = renderInvitation(settings, email)
    const captured = !mailer.delivers || (email.invite.mode === 'test' && !deliverTestMail)
    if (captured) return { state: 'captured' }
    const refusal = await mailer.send(message)
    return refusal === null ? { state: 'sent' } : { state: 'failed', failure: 'refused', reason: refusal }
  }
