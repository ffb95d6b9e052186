import { type MemberEmail, type MemberEmailKind, recipientOf } from '../domain/members/member-emails.ts'
import { headerText, type MailSettings, type Message, partsOf, senderDomain, senderNamed } from './message.ts'
import { join, reset } from './templates/account.ts'
import { webhookDisabled, webhookFailing } from './templates/webhook.ts'

type To = { name: string; organization: string }
/** What each kind of mail says. */
const kinds: Record<MemberEmailKind, (to: To, email: MemberEmail, settings: MailSettings) => ReturnType<typeof partsOf>> = {
  join: (to, email, settings) => partsOf(settings.t, join, { ...to, ...linkOf(settings, email) }),
  reset: (to, email, settings) => partsOf(settings.t, reset, { ...to, ...linkOf(settings, email) }),
  webhook_failing: (to, email, { t }) => partsOf(t, webhookFailing, { ...to, ...webhookOf(email) }),
  webhook_disabled: (to, email, { t }) => partsOf(t, webhookDisabled, { ...to, ...webhookOf(email) }),
}

function linkOf({ links }: MailSettings, { link }: MemberEmail) {
  if (!link) throw new Error('The mail has no link')
  return { url: links.accountUrl(link), expiresAt: link.expiresAt }
}

/** Of its address only the host: the path may hold a token. */
function webhookOf({ webhook }: MemberEmail) {
  if (!webhook) throw new Error('The mail has no webhook')
  const { failingSince, disabledReason } = webhook
  return {
    host: new URL(webhook.url).host,
    isGone: disabledReason === 'gone',
    failingSince,
  }
}

/** A mail to a member, the same however often it is rendered. @throws Error for a kind that only a newer release knows. */
export function renderMemberEmail(settings: MailSettings, email: MemberEmail): Message {
  const { user, organization } = email.member
  const name = `${user.firstName} ${user.lastName}`.trim()
  if (!isKnown(email.kind)) throw new Error(`There is no mail of the kind ${email.kind}`)
  return {
    messageId: `<member.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: senderNamed(settings.mailFrom, organization.name),
    to: { name: headerText(name), address: recipientOf(email) },
    replyTo: settings.mailFrom,
    ...kinds[email.kind]({ name, organization: organization.name }, email, settings),
  }
}

const isKnown = (kind: string): kind is MemberEmailKind => Object.hasOwn(kinds, kind)
