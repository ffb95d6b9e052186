import { findContactOf } from '../domain/invites/find-contact.ts'
import { REGISTRATION_MS } from '../domain/open-links/limits.ts'
import type { RegistrationEmail } from '../domain/open-links/registration-emails.ts'
import { pageLinksFor } from '../domain/ports/page-links.ts'
import { HOUR_MS } from '../domain/time/days.ts'
import { isPlainAddress } from '../domain/validation/email-address.ts'
import { greeting, linkWithButton, note, paragraph, translate } from './letter.ts'
import { legalLinks } from './letters/compose-letter.ts'
import {
  chooseSender,
  type MailSettings,
  type Message,
  mailBrandOf,
  renderParts,
  senderDomain,
  shortenForSubject,
  toHeaderText,
} from './message.ts'

/** Renders the mail that proves the address of a visitor who registered by an open link, identically on each retry. */
export function renderRegistrationEmail(settings: MailSettings, email: RegistrationEmail): Message {
  const { assessment } = email.openLink
  const { organization } = assessment
  const t = settings.languages.mail(email.language, organization.timeZone)
  const facts = { assessment: assessment.name, organization: organization.name }
  const [button, address] = linkWithButton(t, settings.links.registrationUrl(email.id), t.text('open.button'))
  const letter = {
    subject: t.text('open.subject', { ...facts, organization: shortenForSubject(organization.name) }),
    blocks: [
      greeting(t, email.name),
      paragraph(...translate(t, 'open.intro', facts)),
      button,
      note(t.text('open.terms', { hours: REGISTRATION_MS / HOUR_MS })),
      address,
      note(t.text('open.not_me')),
      ...legalLinks(t, pageLinksFor(organization, t.language)),
    ],
  }
  const contact = findContactOf({ organization, createdBy: null })
  return {
    messageId: `<registration.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: chooseSender(settings.mailFrom, organization.senderName, organization.name),
    to: { name: toHeaderText(email.name), address: email.email },
    replyTo: contact && isPlainAddress(contact.address) ? { ...contact, name: toHeaderText(contact.name) } : settings.mailFrom,
    ...renderParts(t, letter, mailBrandOf(settings.links, organization)),
  }
}
