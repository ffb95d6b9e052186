import { insertRows } from '../../db/writes.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { loadZones } from '../concurrency/load-zones.ts'
import type { Context } from '../context.ts'
import type { Violation } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { offeredLanguages } from '../languages/choose-language.ts'
import { MAX_MESSAGE_LENGTH, MAX_NAME_LENGTH } from '../limits.ts'
import { requireAssessment } from '../loaders/require-assessment.ts'
import { BRAND } from '../ports/brand.ts'
import { inTransaction } from '../transaction.ts'
import { checkChoice, checkName, checkText, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { TEMPLATE_KINDS, type TemplateKind } from './candidate-mails.ts'
import { nameActor, queueAdminEmails } from './member-emails.ts'
import { newestTexts } from './newest-texts.ts'
import {
  chooseText,
  type FoundText,
  findTextAt,
  mainLanguageOf,
  placesOf,
  type TextPlace,
  type WrittenText,
} from './template-places.ts'
import { findSubjectFault, findTemplateFault } from './template-text.ts'

// Templates of an organization that replace the service's texts, for all emails or the emails of one assessment. Versions are never
// changed: each email records the version it was sent with.

/** @property version 0: there never was one. Subject and body are empty where nothing is written. */
export type MailTemplate = WrittenText & { version: number }

/** The text of a place, without its fallback. @throws DomainError not_permitted, assessment_not_found. */
export async function readMailTemplate(ctx: Context, place: TextPlace): Promise<MailTemplate> {
  authorize(ctx, 'manage_settings')
  if (place.assessmentId !== null) await requireAssessment(ctx, place.assessmentId)
  const found = findTextAt(await newestTexts(ctx.db.selectFrom('mailTemplates'), [place]).execute(), place)
  return { version: found?.version ?? 0, subject: found?.subject ?? '', body: found?.body ?? '' }
}

const TEXT_SETTINGS = { language: true, languagesOffered: true, mainTemplateLanguage: true } as const

/**
 * `main`: language of the template used for languages without one; null: they use the service's text. `offered`: languages that can be
 * chosen.
 * @throws DomainError not_permitted.
 */
export async function readMainLanguage(ctx: Context): Promise<{ main: string | null; offered: string[] }> {
  authorize(ctx, 'manage_settings')
  const where = { id: ctx.organization.id }
  const organization = await ctx.db.organization.findUniqueOrThrow({ where, select: TEXT_SETTINGS })
  const { languages } = ctx.deps
  return { main: mainLanguageOf(languages, organization), offered: offeredLanguages(languages, organization) }
}

/** Text that applies if a place has none; null: the service's. @throws DomainError not_permitted. */
export async function findFallbackText(ctx: Context, place: TextPlace): Promise<FoundText | null> {
  const { main } = await readMainLanguage(ctx)
  const [, ...fallbacks] = placesOf(place, main)
  return chooseText(
    fallbacks,
    fallbacks.length > 0 ? await newestTexts(ctx.db.selectFrom('mailTemplates'), fallbacks).execute() : [],
  )
}

/** Template as emails use it, with the fallback where it is empty. @throws DomainError not_permitted. */
export async function withFallbackText(
  ctx: Context,
  place: TextPlace,
  text: WrittenText,
): Promise<WrittenText & { language: string }> {
  const found = text.body === '' ? await findFallbackText(ctx, place) : null
  const { language, subject, body } = found ?? { language: place.language, ...text }
  return { language, subject, body }
}

/**
 * Uses the organization's text in its main language for languages without a text of their own, instead of ours; null ends that.
 *
 * @throws DomainError not_permitted; invalid: a language that candidates can not have.
 */
export async function saveMainLanguage(ctx: Context, language: string | null): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('organizations.id').forNoKeyUpdate().execute()
    const { main, offered } = await readMainLanguage(inside)
    if (language !== null) throwIfIssues(findIssues([['mainLanguage', checkChoice(language, offered)]]))
    if (main === language) return
    await inside.db.organization.update({ where: { id: ctx.organization.id }, data: { mainTemplateLanguage: language } })
    await recordAudit(inside, { action: 'changed_settings', details: { changed: ['mainTemplateLanguage'] } })
  })
}

/** Name, logo, and colors in a mail. @throws DomainError not_permitted. */
export async function readLetterhead(ctx: Context) {
  authorize(ctx, 'manage_settings')
  const select = { ...BRAND, timeZone: true, invitationText: true } as const
  const letterhead = await ctx.db.organization.findUniqueOrThrow({ where: { id: ctx.organization.id }, select })
  await loadZones(ctx.db, [letterhead.timeZone])
  return letterhead
}

/** Issues of a text. An empty subject and body is no text: the default applies. */
export const findTemplateIssues = (kind: TemplateKind, { subject, body }: WrittenText) =>
  subject === '' && body === ''
    ? []
    : findIssues([
        ['subject', checkName(subject, MAX_NAME_LENGTH) ?? asViolation(findSubjectFault(kind, subject))],
        ['body', checkText(body, MAX_MESSAGE_LENGTH) ?? asViolation(findTemplateFault(kind, body) ?? emptyIn(body))],
      ])

const asViolation = (text: string | null): Violation | undefined => (text === null ? undefined : { rule: 'malformed', text })
/** A subject alone is no text: of a kind without a button no other rule says so. */
const emptyIn = (body: string): string | null => (body === '' ? 'Write a text, or leave both fields empty.' : null)

/** Issues of text that is blank when rendered. */
const findBlankIssues = (input: WrittenText, { subject, body }: WrittenText) =>
  subject === '' && body === '' && input.subject + input.body !== '' ? findIssues([['body', asViolation(BLANK)]]) : []
const BLANK = 'There are only spaces here. Write a text, or leave both fields empty.'

/** Issues of a text's place. */
export const findPlaceIssues = ({ deps }: Context, { kind, language }: TextPlace) =>
  findIssues([
    ['kind', checkChoice(kind, TEMPLATE_KINDS)],
    ['language', checkChoice(language, deps.languages.codes)],
  ])

/** Normalizes the line breaks that browsers send. */
export const tidyTemplate = ({ subject, body }: WrittenText): WrittenText => ({
  subject: subject.replaceAll(/\s+/g, ' ').trim(),
  body: body.replaceAll(/\r\n?/g, '\n').trim(),
})

/**
 * Saves the next version of a template; an empty text restores the fallback. Queued emails use the new version. Admins are notified by
 * email.
 *
 * @param seen version that was edited. @throws DomainError not_permitted, assessment_not_found; invalid: unreadable lines with their
 *   numbers, or `changed` if there is a newer version.
 */
export async function saveMailTemplate(
  ctx: Context,
  place: TextPlace,
  { seen: seenVersion, ...draft }: WrittenText & { seen: number },
): Promise<void> {
  authorize(ctx, 'manage_settings')
  const text = tidyTemplate(draft)
  throwIfIssues([...findPlaceIssues(ctx, place), ...findBlankIssues(draft, text), ...findTemplateIssues(place.kind, text)])
  await inTransaction(ctx, async (inside) => {
    // One after the other: two that have seen the same version would both write the next.
    await inside.db.selectFrom('organizations').select('organizations.id').forNoKeyUpdate().execute()
    const before = await readMailTemplate(inside, place)
    if (before.subject === text.subject && before.body === text.body) return
    if (before.version !== seenVersion) throwIfIssues([{ field: 'body', rule: 'malformed', text: CHANGED }])
    const { kind, language, assessmentId } = place
    const version = before.version + 1
    const row = {
      id: inside.deps.newId(),
      organizationId: ctx.organization.id,
      ...{ kind, language, assessmentId },
      version,
      ...text,
      createdById: ctx.actor.kind === 'member' ? ctx.actor.id : null,
      createdAt: inside.deps.clock(),
    }
    await insertRows(inside.db, { mailTemplates: [row] }).execute()
    const target = assessmentId === null ? {} : { target: { kind: 'assessment' as const, id: assessmentId } }
    await recordAudit(inside, { action: 'changed_mail_text', ...target, details: { kind, language, version } })
    // Admins are notified, because a stolen session could write to candidates in the organization's name.
    const facts = omitUndefined({ called: text.subject, person: await nameActor(inside) })
    await queueAdminEmails(inside, { kind: 'text_changed', dedupeKey: `text:${row.id}`, facts })
  })
}

const CHANGED = 'Somebody has changed this text meanwhile: copy yours, load the page anew, and change theirs.'
