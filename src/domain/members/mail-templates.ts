import { own, ownOrganization } from '../../db/own.ts'
import { all, first, run } from '../../db/statements.ts'
import { insertRows } from '../../db/writes.ts'
import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { checkChoice, checkName, checkText, findIssues } from '../checking/checks.ts'
import { refuse } from '../checking/refuse.ts'
import type { Context } from '../context.ts'
import type { Violation } from '../errors.ts'
import { MAX_MESSAGE_LENGTH, MAX_NAME_LENGTH } from '../limits.ts'
import { newestTexts } from '../mails/newest-texts.ts'
import { chooseText, type FoundText, mainLanguageOf, placesOf, type WrittenText } from '../mails/template-places.ts'
import { findSubjectFault, findTemplateFault } from '../mails/template-text.ts'
import { inTransaction } from '../transaction.ts'
import { offeredLanguages } from '../values/languages.ts'

// What an organization says in its invitations in place of our text. Versions are added, never changed: each mail knows the one it was sent with.

/** @property version 0: there never was one. Subject and body are empty where invitations are in the service's own words. */
export type MailTemplate = { version: number; subject: string; body: string }

/** The text for invitations in a language. @throws DomainError not_permitted. */
export async function readMailTemplate(ctx: Context, language: string): Promise<MailTemplate> {
  authorize(ctx, 'manage_settings')
  const found = await first(
    ctx.db,
    own(ctx, 'mailTemplates')
      .select(['version', 'subject', 'body'])
      .where('language', '=', language)
      .orderBy('version', 'desc')
      .limit(1),
  )
  return { version: found?.version ?? 0, subject: found?.subject ?? '', body: found?.body ?? '' }
}

const TEXT_SETTINGS = { language: true, languagesOffered: true, mainTemplateLanguage: true } as const

/** The language whose text takes the place of ours where there is none (null: ours stays), and those that can. @throws DomainError not_permitted. */
export async function readMainLanguage(ctx: Context): Promise<{ main: string | null; offered: string[] }> {
  authorize(ctx, 'manage_settings')
  const where = { id: ctx.organization.id }
  const organization = await ctx.db.organization.findUniqueOrThrow({ where, select: TEXT_SETTINGS })
  const { languages } = ctx.deps
  return { main: mainLanguageOf(languages, organization), offered: offeredLanguages(languages, organization) }
}

/** What mails say in a language in which nothing is written; null: the service's own text. @throws DomainError not_permitted. */
export async function findStandIn(ctx: Context, language: string): Promise<FoundText | null> {
  const { main } = await readMainLanguage(ctx)
  const [, ...others] = placesOf(language, main)
  const codes = others.map((place) => place.language)
  return chooseText(others, codes.length > 0 ? await all(ctx.db, newestTexts(own(ctx, 'mailTemplates'), codes)) : [])
}

/** A text as mails have it: where nothing is written, what stands in for it. @throws DomainError not_permitted. */
export async function withStandIn(ctx: Context, text: WrittenText): Promise<WrittenText> {
  const found = text.body === '' ? await findStandIn(ctx, text.language) : null
  return found ? { language: found.language, subject: found.subject, body: found.body } : text
}

/**
 * Has an organization's text in its main language take the place of ours, in the languages that have none; null: no more.
 *
 * @throws DomainError not_permitted; invalid: a language that candidates can not have.
 */
export async function saveMainLanguage(ctx: Context, language: string | null): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    await run(inside.db, ownOrganization(ctx).select('organizations.id').forNoKeyUpdate())
    const { main, offered } = await readMainLanguage(inside)
    if (language !== null) refuse(findIssues([['mainLanguage', checkChoice(language, offered)]]))
    if (main === language) return
    await inside.db.organization.update({ where: { id: ctx.organization.id }, data: { mainTemplateLanguage: language } })
    await recordAudit(inside, { action: 'changed_settings', details: { changed: ['mainTemplateLanguage'] } })
  })
}

/** What an invitation shows of the organization besides. @throws DomainError not_permitted. */
export async function readLetterhead(ctx: Context) {
  authorize(ctx, 'manage_settings')
  const select = { name: true, timeZone: true, invitationText: true } as const
  return ctx.db.organization.findUniqueOrThrow({ where: { id: ctx.organization.id }, select })
}

/** What is wrong with a text. Both empty is none, which returns to the service's own. */
export const findTemplateIssues = ({ subject, body }: Pick<MailTemplate, 'subject' | 'body'>) =>
  subject === '' && body === ''
    ? []
    : findIssues([
        ['subject', checkName(subject, MAX_NAME_LENGTH) ?? asViolation(findSubjectFault(subject))],
        ['body', checkText(body, MAX_MESSAGE_LENGTH) ?? asViolation(findTemplateFault(body))],
      ])

const asViolation = (text: string | null): Violation | undefined => (text === null ? undefined : { rule: 'malformed', text })

/** Line ends as browsers send them become those that are read. */
export const tidyTemplate = ({ subject, body }: Pick<MailTemplate, 'subject' | 'body'>) => ({
  subject: subject.replaceAll(/\s+/g, ' ').trim(),
  body: body.replaceAll(/\r\n?/g, '\n').trim(),
})

/**
 * Saves the next version of the text for invitations in a language; an empty one returns to the service's own. Mails that are queued already
 * are sent with it.
 *
 * @param seen the version that it was made from.
 * @throws DomainError not_permitted; invalid: what can not be read, with its line, or `changed` when there is a newer version.
 */
export async function saveMailTemplate(
  ctx: Context,
  { language, seen, ...given }: { language: string; subject: string; body: string; seen: number },
): Promise<void> {
  authorize(ctx, 'manage_settings')
  const text = tidyTemplate(given)
  refuse([...findIssues([['language', checkChoice(language, ctx.deps.languages.codes)]]), ...findTemplateIssues(text)])
  await inTransaction(ctx, async (inside) => {
    // One after the other: two that have seen the same version would both write the next.
    await run(inside.db, ownOrganization(ctx).select('organizations.id').forNoKeyUpdate())
    const before = await readMailTemplate(inside, language)
    if (before.subject === text.subject && before.body === text.body) return
    if (before.version !== seen) refuse([{ field: 'body', rule: 'malformed', text: CHANGED }])
    const id = inside.deps.newId()
    const createdById = ctx.actor.kind === 'member' ? ctx.actor.id : null
    const version = before.version + 1
    const row = {
      id,
      organizationId: ctx.organization.id,
      language,
      version,
      ...text,
      createdById,
      createdAt: inside.deps.clock(),
    }
    await run(inside.db, insertRows({ mailTemplates: [row] }))
    await recordAudit(inside, { action: 'changed_mail_text', details: { language, version } })
  })
}

const CHANGED = 'Somebody has changed this text meanwhile: copy yours, load the page anew, and change theirs.'
