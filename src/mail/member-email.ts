import type { Links } from '../domain/context.ts'
import {
  type MemberEmail,
  type MemberEmailKind,
  recipientOf,
  type SecurityFacts,
  type SecurityMailKind,
  type TestedText,
} from '../domain/mails/member-emails.ts'
import { languageOfMember } from '../domain/values/languages.ts'
import { nameBrowser } from '../domain/values/name-browser.ts'
import type { MailTexts } from '../locales/languages.ts'
import type { Letter } from './letter.ts'
import { join, reset } from './letters/account.ts'
import { digest } from './letters/digests.ts'
import { isSecurityKind, security } from './letters/security.ts'
import { webhookDisabled, webhookFailing } from './letters/webhook.ts'
import { headerText, type MailSettings, type Message, partsOf, senderDomain, senderNamed } from './message.ts'
import { previewText } from './preview-text.ts'

type To = { name: string; organization: string }
type Said = { t: MailTexts; links: Links }
const kinds: Record<
  Exclude<MemberEmailKind, SecurityMailKind | 'text_test'>,
  (to: To, email: MemberEmail, said: Said) => Letter
> = {
  join: (to, email, { t, links }) => join(t, { ...to, ...linkOf(links, email) }),
  reset: (to, email, { t, links }) => reset(t, { ...to, ...linkOf(links, email) }),
  webhook_failing: (to, email, { t }) => webhookFailing(t, { ...to, ...webhookOf(email) }),
  webhook_disabled: (to, email, { t }) => webhookDisabled(t, { ...to, ...webhookOf(email) }),
  grading_digest: (to, email, { t, links }) => digest('grading_digest')(t, { ...to, ...figuresOf(links, email, 'grading') }),
  expiring_digest: (to, email, { t, links }) => digest('expiring_digest')(t, { ...to, ...figuresOf(links, email, 'invites') }),
  bounce_digest: (to, email, { t, links }) =>
    digest('bounce_digest')(t, { ...to, ...figuresOf(links, email, 'settings/suppressions') }),
}

/** Counts of a digest, and the URL of the page that lists them. */
function figuresOf(links: Links, { facts, organizationId }: MemberEmail, page: string) {
  const { count = 0, fresh = 0 } = (facts ?? {}) as Record<string, number>
  return { count, fresh, url: links.portalUrl({ organization: { id: organizationId }, mode: 'live' }, page) }
}

function tellSecurity(kind: SecurityMailKind, to: To, email: MemberEmail, { t, links }: Said): Letter {
  const { facts, createdAt: at, organizationId: id } = email
  const {
    address = null,
    userAgent = '',
    person = null,
    called = '',
    before = [],
    after = [],
    ...more
  } = (facts ?? {}) as SecurityFacts
  const where = { at, person, address, browser: nameBrowser(userAgent) || null }
  const pageOf = (page: string) => links.portalUrl({ organization: { id }, mode: 'live' }, page)
  const ways = { forgot: links.forgotUrl(), log: pageOf('settings/audit-log'), home: pageOf('') }
  const until = more.until === undefined ? at : new Date(more.until)
  return security(t, kind, { ...to, ...where, ...ways, called, until, before: wordRoles(before), after: wordRoles(after) })
}

const wordRoles = (roles: readonly string[]): string => roles.join(', ') || '–'

function linkOf(links: Links, { link }: MemberEmail) {
  if (!link) throw new Error('The mail has no link')
  return { url: links.accountUrl({ ...link, provesAddress: true }), expiresAt: link.expiresAt }
}

/** Shows only the host: the URL's path may contain a token. */
function webhookOf({ webhook }: MemberEmail) {
  if (!webhook) throw new Error('The mail has no webhook')
  const { failingSince, disabledReason } = webhook
  return {
    host: new URL(webhook.url).host,
    isGone: disabledReason === 'gone',
    failingSince,
  }
}

/** Renders a member's mail, identically on each retry. @throws Error for a kind of a newer release. */
export function renderMemberEmail(settings: MailSettings, email: MemberEmail): Message {
  const { user, organization } = email.member
  const isTest = email.kind === 'text_test'
  const name = `${user.firstName} ${user.lastName}`.trim()
  return {
    messageId: `<member.${email.id}@${senderDomain(settings.mailFrom)}>`,
    from: senderNamed(settings.mailFrom, isTest ? organization.senderName : null, organization.name),
    to: { name: headerText(name), address: recipientOf(email) },
    replyTo: settings.mailFrom,
    ...(isTest ? tryText(settings, email) : tell(settings, email, { name, organization: organization.name })),
  }
}

function tell({ languages, links }: MailSettings, email: MemberEmail, to: To) {
  const { organization, credential } = email.member
  const chosen = (email.link?.credential ?? credential)?.language ?? null
  const t = languages.mail(languageOfMember(languages, chosen, organization), organization.timeZone)
  return partsOf(t, letterOf(email.kind, to, email, { t, links }))
}

/** Renders a test of a custom text as a candidate would get it. */
function tryText(settings: MailSettings, { facts, createdAt: now, member: { organization } }: MemberEmail) {
  const { timeZone: zone, invitationText } = organization
  const example = { organization, zone, invitationText: invitationText ?? '', ...(facts as TestedText) }
  return previewText(settings, example, { url: settings.links.testUrl(), now, isTest: true })
}

function letterOf(kind: string, to: To, email: MemberEmail, said: Said): Letter {
  if (isSecurityKind(kind)) return tellSecurity(kind, to, email, said)
  if (isKnown(kind)) return kinds[kind](to, email, said)
  throw new Error(`There is no mail of the kind ${kind}`)
}

const isKnown = (kind: string): kind is keyof typeof kinds => Object.hasOwn(kinds, kind)
