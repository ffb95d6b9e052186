import type { Deps, KeyMode, ServiceContext } from '../domain/context.ts'
import type { InviteEmail } from '../domain/invites/emails.ts'
import { beginMailOutage, claimMailProbe, endMailOutage, readMailOutage } from '../domain/mails/mail-outage.ts'
import type { MemberEmail } from '../domain/mails/member-emails.ts'
import type { RegistrationEmail } from '../domain/open-links/registration-emails.ts'
import { createMailDispatcher, type MailDispatcher } from '../jobs/mail-dispatcher.ts'
import type { MailDelivery } from '../jobs/mailing.ts'
import { renderInviteEmail } from '../mail/invite-email.ts'
import type { Mailer } from '../mail/mailer.ts'
import { renderMemberEmail } from '../mail/member-email.ts'
import type { MailSettings } from '../mail/message.ts'
import { renderRegistrationEmail } from '../mail/registration-email.ts'
import { withReturnPath } from '../mail/return-path.ts'
import type { Config } from './config.ts'

/** Candidates' mails are captured if there is no mail server, and for test invites unless `deliverTestMail`. */
const isCaptured = (
  { delivers }: Pick<Mailer, 'delivers'>,
  { deliverTestMail }: Pick<Config, 'deliverTestMail'>,
  mode: KeyMode,
): boolean => !delivers || (mode === 'test' && !deliverTestMail)

export const candidateMailRules = (
  mailer: Mailer,
  config: Pick<Config, 'deliverTestMail' | 'mailCeilings'>,
): Deps['candidateMails'] => ({
  perDay: config.mailCeilings.perOrganization,
  isCaptured: (mode) => isCaptured(mailer, config, mode),
})

export const createInvitationDelivery = (
  mailer: Mailer,
  settings: MailSettings,
  { deliverTestMail, bounces }: Pick<Config, 'deliverTestMail' | 'bounces'>,
): MailDelivery<InviteEmail> => ({
  isCaptured: ({ invite }) => isCaptured(mailer, { deliverTestMail }, invite.mode),
  send: async (email) => mailer.send(withReturnPath(settings.links, bounces, email.id, renderInviteEmail(settings, email))),
})

export const createRegistrationDelivery = (
  mailer: Mailer,
  settings: MailSettings,
  { deliverTestMail, bounces }: Pick<Config, 'deliverTestMail' | 'bounces'>,
): MailDelivery<RegistrationEmail> => ({
  isCaptured: ({ mode }) => isCaptured(mailer, { deliverTestMail }, mode),
  send: async (email) => mailer.send(withReturnPath(settings.links, bounces, email.id, renderRegistrationEmail(settings, email))),
})

/** Member mails are never test mails: they are captured only if there is no mail server. */
export const createMemberEmailDelivery = (mailer: Mailer, settings: MailSettings): MailDelivery<MemberEmail> => ({
  isCaptured: () => !mailer.delivers,
  send: async (email) => mailer.send(renderMemberEmail(settings, email)),
})

/** The dispatcher that all mails of this process go through. */
export const createServiceMailDispatcher = (
  system: ServiceContext,
  mailer: Mailer,
  { connections, perMinute }: Config['smtp'],
): MailDispatcher =>
  createMailDispatcher(
    {
      exists: async () => (await readMailOutage(system.db)) !== null,
      begin: (about, reason) => beginMailOutage(system, about, reason),
      claimProbe: () => claimMailProbe(system),
      async end() {
        const hasEnded = await endMailOutage(system)
        // The outage delayed retries of all mails.
        if (hasEnded) await system.deps.queue.bringMailForward()
        return hasEnded
      },
    },
    system.deps.log,
    { width: connections, perMinute, closeIdle: mailer.closeIdle },
  )
