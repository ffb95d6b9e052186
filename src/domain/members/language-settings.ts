import { isDeepStrictEqual } from 'node:util'
import { isZoneKnown } from '../../db/zones.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { offeredLanguages } from '../languages/choose-language.ts'
import { isZoneName } from '../time/zones.ts'
import { inTransaction } from '../transaction.ts'
import { checkChoice, findIssues } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { TIME_ZONES } from './preferences.ts'

/** Languages in which an organization writes to its candidates. */
export type LanguageSettings = {
  /** Default. */
  language: string
  /** Languages for candidates, in the order of the codes. */
  languagesOffered: string[]
  timeZone: string
}

const SETTINGS = ['language', 'languagesOffered', 'timeZone'] as const

/** With when the organization was last changed. @throws DomainError not_permitted. */
export async function readLanguageSettings(ctx: Context): Promise<LanguageSettings & { updatedAt: Date }> {
  authorize(ctx, 'manage_settings')
  const select = { language: true, languagesOffered: true, timeZone: true, updatedAt: true }
  const found = await ctx.db.organization.findUniqueOrThrow({ where: { id: ctx.organization.id }, select })
  return { ...found, languagesOffered: offeredLanguages(ctx.deps.languages, found) }
}

/**
 * The organization's own language is always offered. If exactly the reviewed languages are chosen, languages reviewed later are added.
 *
 * @throws DomainError not_permitted; invalid: an unknown language or time zone, or `changed` for values that somebody else changed since
 *   `seenAt`.
 */
export async function changeLanguageSettings(ctx: Context, input: LanguageSettings, seenAt?: SeenAt): Promise<void> {
  authorize(ctx, 'manage_settings')
  const { codes, reviewed } = ctx.deps.languages
  const isZone = isZoneName(input.timeZone) && (await isZoneKnown(ctx.db, input.timeZone))
  throwIfIssues(
    findIssues([
      ['language', checkChoice(input.language, codes)],
      ...input.languagesOffered.map((code): [string, ReturnType<typeof checkChoice>] => [
        'languagesOffered',
        checkChoice(code, codes),
      ]),
      ['timeZone', isZone ? undefined : checkChoice('', TIME_ZONES)],
    ]),
  )
  const offered = codes.filter((code) => code === input.language || input.languagesOffered.includes(code))
  await inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const before = await readLanguageSettings(inside)
    const settings = { language: input.language, languagesOffered: offered, timeZone: input.timeZone }
    await refuseUnseenChanges(
      versionOf(inside, { updatedAt: before.updatedAt, seen: seenAt, action: 'changed_settings' }),
      before,
      settings,
    )
    const changed = SETTINGS.filter((field) => !isDeepStrictEqual(before[field], settings[field]))
    if (changed.length === 0) return
    const languagesOffered = isDeepStrictEqual(offered, [...reviewed]) ? [] : offered
    const data = { ...settings, languagesOffered, updatedAt: timeOfChange(ctx.deps.clock(), before) }
    await inside.db.organization.update({ where: { id: ctx.organization.id }, data })
    await recordAudit(inside, { action: 'changed_settings', details: { changed } })
  })
}
