import { hash } from 'node:crypto'
import { sql } from '../../db/builder.ts'
import { insertRows } from '../../db/writes.ts'
import type { AuditDetails } from '../audit/audit-details.ts'
import { findLastChange } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { Issue, Violation } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { MAX_MESSAGE_LENGTH, MAX_URL_LENGTH } from '../limits.ts'
import { nameActor, queueAdminEmails } from '../mails/member-emails.ts'
import { linksIn, PAGE_LINKS, type PageLink, type PageLinks } from '../ports/page-links.ts'
import { inTransaction } from '../transaction.ts'
import { checkChoice, checkSize, checkText, findIssues } from '../validation/checks.ts'
import { isPlainAddress } from '../validation/email-address.ts'
import { refuseUnseenChanges } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

// Links at the foot of candidates' pages and the organization's addition to the consent, by language.

/** Texts of one language. @property consent addition to our consent text; empty: none. */
export type PageTexts = PageLinks & { consent: string }
/** Version of an organization's consent text. Versions are never changed, so that accepted texts stay readable. */
export type ConsentText = { language: string; version: number; body: string }

/** The words of one language. @throws DomainError not_permitted. */
export async function readPageTexts(ctx: Context, language: string): Promise<PageTexts> {
  authorize(ctx, 'manage_settings')
  const where = { id: ctx.organization.id }
  const { pageLinks } = await ctx.db.organization.findUniqueOrThrow({ where, select: { pageLinks: true } })
  const [text] = await newestConsentTexts(ctx, [language])
  return { ...linksIn(pageLinks, language), consent: text?.body ?? '' }
}

/** Fingerprint of one language's texts, to notice concurrent changes of that language alone. */
export const hashPageTexts = ({ imprint, privacy, contact, consent }: PageTexts): string =>
  hash('sha256', JSON.stringify([imprint, privacy, contact, consent]), 'base64url')

export const findPageTextIssues = ({ consent, ...links }: PageTexts): Issue[] =>
  findIssues([
    ...PAGE_LINKS.map((link): [string, Violation | undefined] => [link, checkLink(link, links[link])]),
    ['consent', checkText(consent, MAX_MESSAGE_LENGTH)],
  ])

/** Rejects a consent text of white space only: candidates would agree to nothing. */
const findBlankIssues = (input: PageTexts, { consent }: PageTexts): Issue[] =>
  consent === '' && input.consent !== '' ? [{ field: 'consent', rule: 'malformed', text: BLANK }] : []
const BLANK = 'There are only spaces here. Write a text, or leave the field empty.'

/** The texts as they are stored. */
const tidy = ({ imprint, privacy, contact, consent }: PageTexts): PageTexts => ({
  ...{ imprint: imprint.trim(), privacy: privacy.trim(), contact: contact.trim() },
  consent: consent.replaceAll(/\r\n?/g, '\n').trim(),
})

/**
 * Saves the texts of one language. Queued emails use the new texts; candidates who consented keep their version. Admins are notified by
 * email.
 *
 * @param seenHash version mark of the texts that were edited.
 * @throws DomainError not_permitted; invalid: an invalid or too long value, or `changed` for texts that somebody else changed since `seenHash`.
 */
export async function savePageTexts(ctx: Context, language: string, input: PageTexts, seenHash: string): Promise<void> {
  authorize(ctx, 'manage_settings')
  const words = tidy(input)
  throwIfIssues([
    ...findIssues([['language', checkChoice(language, ctx.deps.languages.codes)]]),
    ...findPageTextIssues(words),
    ...findBlankIssues(input, words),
  ])
  await inTransaction(ctx, async (inside) => {
    // One after the other: two that have seen the same version would both write the next.
    await inside.db.selectFrom('organizations').select('organizations.id').forNoKeyUpdate().execute()
    const before = await readPageTexts(inside, language)
    const findBy = () => findLastChange(inside, { action: 'changed_page_words', language })
    await refuseUnseenChanges({ isAsSeen: hashPageTexts(before) === seenHash, findBy }, before, words)
    const { consent, ...links } = words
    const isSame = PAGE_LINKS.every((link) => before[link] === links[link]) && before.consent === consent
    if (isSame) return
    const where = { id: ctx.organization.id }
    const { pageLinks } = await inside.db.organization.findUniqueOrThrow({ where, select: { pageLinks: true } })
    const changed = { ...(pageLinks as object | null), [language]: links }
    await inside.db.organization.update({ where, data: { pageLinks: changed } })
    const [newest] = await newestConsentTexts(inside, [language])
    const version = newest?.version ?? 0
    const consentVersion =
      before.consent === consent ? version : await addConsentText(inside, { language, version, body: consent })
    const details = {
      language,
      before: { ...linksIn(pageLinks, language), consentVersion: version } satisfies AuditDetails,
      after: { ...links, consentVersion } satisfies AuditDetails,
    }
    await recordAudit(inside, { action: 'changed_page_words', details })
    // Admins are notified, because a stolen session could change what candidates agree to or where links lead.
    await queueAdminEmails(inside, { kind: 'page_words_changed', facts: omitUndefined({ person: await nameActor(inside) }) })
  })
}

/** @returns the new version. */
async function addConsentText(ctx: Context, { language, version, body }: ConsentText): Promise<number> {
  const row = {
    organizationId: ctx.organization.id,
    language,
    version: version + 1,
    body,
    createdById: ctx.actor.kind === 'member' ? ctx.actor.id : null,
    createdAt: ctx.deps.clock(),
  }
  await insertRows(ctx.db, { consentTexts: [row] }).execute()
  return row.version
}

/** Every version of a language's consent text, the newest first. @throws DomainError not_permitted. */
export async function listConsentTexts(ctx: Context, language: string): Promise<(ConsentText & { createdAt: Date })[]> {
  authorize(ctx, 'manage_settings')
  const where = { organizationId: ctx.organization.id, language }
  const select = { language: true, version: true, body: true, createdAt: true } as const
  return ctx.db.consentText.findMany({ where, select, orderBy: { version: 'desc' } })
}

/**
 * Addition to our consent text, in the reader's language or the organization's main one.
 *
 * @returns null: none.
 */
export async function findConsentText(ctx: Context, language: string, main: string): Promise<ConsentText | null> {
  const texts = await newestConsentTexts(ctx, [language, main])
  const ownTexts = [language, main].flatMap((code) => texts.filter((text) => text.language === code && text.body !== ''))
  return ownTexts[0] ?? null
}

/** The organization's own text that the candidate agreed to, besides the service's; null: there was none. */
export async function findAgreedText(
  ctx: Context,
  {
    organizationConsentLanguage,
    organizationConsentVersion,
  }: { organizationConsentLanguage: string | null; organizationConsentVersion: number | null },
): Promise<ConsentText | null> {
  if (organizationConsentLanguage === null || organizationConsentVersion === null) return null
  const agreed = ctx.db
    .selectFrom('consentTexts')
    .select(['consentTexts.language', 'consentTexts.version', 'consentTexts.body'])
    .where('consentTexts.language', '=', organizationConsentLanguage)
    .where('consentTexts.version', '=', organizationConsentVersion)
  return (await agreed.executeTakeFirst()) ?? null
}

const newestConsentTexts = (ctx: Context, languages: readonly string[]): Promise<ConsentText[]> =>
  ctx.db
    .selectFrom('consentTexts')
    .distinctOn('consentTexts.language')
    .select(['consentTexts.language', 'consentTexts.version', 'consentTexts.body'])
    .where('consentTexts.language', '=', sql<string>`any(${[...languages]}::text[])`)
    .orderBy('consentTexts.language')
    .orderBy('consentTexts.version', 'desc')
    .execute()

function checkLink(link: PageLink, text: string): Violation | undefined {
  const address = text.trim()
  if (address === '') return undefined
  const tooLong = checkSize('maxLength', [...address].length, MAX_URL_LENGTH)
  if (tooLong || isOpened(address) || (link === 'contact' && isMailto(address))) return tooLong
  return { rule: 'malformed', text: link === 'contact' ? NO_CONTACT : NO_ADDRESS }
}

/** Rejects URLs with a user name or password, which every reader of the page would see. */
function isOpened(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && /^https:\/\//i.test(address) && url.username === '' && url.password === ''
}

/** Without fields such as `cc`, which an address before the @ could look like. */
const isMailto = (address: string): boolean =>
  /^mailto:[^?&%]*$/i.test(address) && isPlainAddress(address.slice('mailto:'.length))

const NO_ADDRESS = 'Enter a whole address that begins with https://, or leave it empty.'
const NO_CONTACT = 'Enter a whole address that begins with https://, or mailto: and an email address, or leave it empty.'
