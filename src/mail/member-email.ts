import { chooseMemberLanguage } from '../domain/languages/choose-language.ts'
import {
  type DigestFacts,
  type MemberEmail,
  type MemberEmailKind,
  recipientOf,
  type SecurityFacts,
  type SecurityMailKind,
  type TestedText,
} from '../domain/mails/member-emails.ts'
import type { Links } from '../domain/ports/links.ts'
import { nameBrowser } from '../domain/text/name-browser.ts'
import type { MailTexts } from '../locales/languages.ts'
import type { Letter } from './letter.ts'
import { memberInvitation, passwordReset } from './letters/account.ts'
import { digest } from './letters/digests.ts'
import { isSecurityKind, security } from './letters/security.ts'
import { webhookDisabled, webhookFailing } from './letters/webhook.ts'
import { chooseSender, type MailSettings, type Message, renderParts, senderDomain, toHeaderText } from './message.ts'
import { previewText } from './preview-text.ts'

type Addressee = { name: string; organization: string }
type LetterContext = { t: MailTexts; links: Links }
const letters: Record<
  Exclude<MemberEmailKind, SecurityMailKind | 'text_test'>,
  (to: Addressee, email: MemberEmail, context: LetterContext) => Letter
> = {
  join: (to, email, { t, links }) => memberInvitation(t, { ...to, ...linkOf(links, email) }),
  reset: (to, email, { t, links }) => passwordReset(t, { ...to, ...linkOf(links, email) }),
  webhook_failing: (to, email, { t }) => webhookFailing(t, { ...to, ...webhookOf(email) }),
  webhook_disabled: (to, email, { t }) => webhookDisabled(t, { ...to, ...webhookOf(email) }),
  grading_digest: (to, email, { t, links }) => digest('grading_digest')(t, { ...to, ...figuresOf(links, email, 'grading') }),
  expiring_digest: (to, email, { t, links }) => digest('expiring_digest')(t, { ...to, ...figuresOf(links, email, 'invites') }),
  bounce_digest: (to, email, { t, links }) =>
    digest('bounce_digest')(t, { ...to, ...figuresOf(links, email, 'settings/suppressions') }),
  open_digest: (to, email, { t, links }) =>
    digest('open_digest')(t, { ...to, ...figuresOf(links, email, 'invites?source=open') }),
}

/** Counts of a digest, and the URL of the page that lists them. */
function figuresOf(links: Links, { facts, organizationId }: MemberEmail, page: string) {
  const { count = 0, fresh = 0, withoutGrader = [] } = (facts ?? {}) as DigestFacts
  return { count, fresh, withoutGrader, url: links.portalUrl({ organization: { id: organizationId }, mode: 'live' }, page) }
}

function securityLetter(kind: SecurityMailKind, to: Addressee, email: MemberEmail, { t, links }: LetterContext): Letter {
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
  const pageUrls = { forgot: links.forgotUrl(), log: pageOf('settings/audit-log'), home: pageOf('') }
  const until = more.until === undefined ? at : new Date(more.until)
  return security(t, kind, {
    ...to,
    ...where,
    ...pageUrls,
    called,
    until,
    before: formatRoles(before),
    after: formatRoles(after),
  })
}

const formatRoles = (roles: readonly string[]): string => roles.join(', ') || '–'

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
    from: chooseSender(settings.mailFrom, isTest ? organization.senderName : null, organization.name),
    to: { name: toHeaderText(name), address: recipientOf(email) },
    replyTo: settings.mailFrom,
    ...(isTest ? renderTest(settings, email) : renderLetter(settings, email, { name, organization: organization.name })),
  }
}

function renderLetter({ languages, links }: MailSettings, email: MemberEmail, to: Addressee) {
  const { organization, credential } = email.member
  const chosen = (email.link?.credential ?? credential)?.language ?? null
  const t = languages.mail(chooseMemberLanguage(languages, chosen, organization), organization.timeZone)
  return renderParts(t, letterOf(email.kind, to, email, { t, links }))
}

/** Renders a test of a custom text as a candidate would get it. */
function renderTest(settings: MailSettings, { facts, createdAt: now, member: { organization } }: MemberEmail) {
  const { timeZone: zone, invitationText } = organization
  const example = { organization, zone, invitationText: invitationText ?? '', ...(facts as TestedText) }
  return previewText(settings, example, { url: settings.links.testUrl(), now, isTest: true })
}

function letterOf(kind: string, to: Addressee, email: MemberEmail, context: LetterContext): Letter {
  if (isSecurityKind(kind)) return securityLetter(kind, to, email, context)
  if (isKnown(kind)) return letters[kind](to, email, context)
  throw new Error(`There is no mail of the kind ${kind}`)
}

const isKnown = (kind: string): kind is keyof typeof letters => Object.hasOwn(letters, kind)
