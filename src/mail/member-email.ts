import { type MemberEmail, type MemberEmailKind, recipientOf } from '../domain/members/member-emails.ts'
import { timeInWords } from '../domain/values/format-time.ts'
import { headerText, type MailSettings, type Message, renderTemplates, senderDomain, senderNamed } from './message.ts'

/** What each kind of mail says: the templates of its name, with these facts. */
const facts: Record<MemberEmailKind, (settings: MailSettings, email: MemberEmail) => object> = {
  join: linkFacts,
  reset: linkFacts,
  webhook_failing: webhookFacts,
  webhook_disabled: webhookFacts,
}

function linkFacts({ links }: MailSettings, { link, member }: MemberEmail) {
  if (!link) throw new Error('The mail has no link')
  return { organization: member.organization.name, url: links.accountUrl(link), expiresAt: timeInWords(link.expiresAt) }
}

/** Of its address only the host: the path may hold a token. */
function webhookFacts(_settings: MailSettings, { webhook }: MemberEmail) {
  if (!webhook) throw new Error('The mail has no webhook')
  const { failingSince, disabledReason } = webhook
  return {
    host: new URL(webhook.url).host,
    isGone: disabledReason === 'gone',
    failingSince: failingSince && timeInWords(failingSince),
  }
}

/** A mail to a member, the same however often it is rendered. @throws Error for a kind that only a newer release knows. */
export function renderMemberEmail(settings: MailSettings, email: MemberEmail): Message {
  const { user, organization } = email.member
  const name = `${user.firstName} ${user.lastName}`.trim()
  if (!isKnown(email.kind)) throw new Error(`There is no mail of the kind ${email.kind}`)
  const more = { name, organization: organization.name }
  return {
    messageId: `<member.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: senderNamed(settings.mailFrom, organization.name),
    to: { name: headerText(name), address: recipientOf(email) },
    replyTo: settings.mailFrom,
    ...renderTemplates(email.kind, { ...more, ...facts[email.kind](settings, email) }),
  }
}

const isKnown = (kind: string): kind is MemberEmailKind => Object.hasOwn(facts, kind)
