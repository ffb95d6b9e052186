import { isZoneKnown } from '../../db/zones.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { PAGE_SIZES } from '../limits.ts'
import { DIGESTS } from '../mails/member-emails.ts'
import { checkChoice, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Display settings of members (null: the browser's, and the shortest page size), and their digests. */
export type Preferences = { timeZone: string | null; pageSize: number | null; notices: string[] }

/** The names of all time zones. */
export const TIME_ZONES: readonly string[] = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].sort()

/** Saves a member's preferences, as far as given. @throws DomainError not_permitted, invalid. */
export async function savePreferences({ actor, db, organization }: Context, wanted: Partial<Preferences>): Promise<void> {
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  const { timeZone = null, pageSize = null, notices = [] } = wanted
  const isZone = timeZone === null || (TIME_ZONES.includes(timeZone) && (await isZoneKnown(db, timeZone)))
  throwIfIssues(
    findIssues([
      ['timeZone', isZone ? undefined : checkChoice('', TIME_ZONES)],
      ...notices.map((kind): [string, ReturnType<typeof checkChoice>] => ['notices', checkChoice(kind, DIGESTS)]),
      ['pageSize', pageSize === null ? undefined : checkChoice(String(pageSize), PAGE_SIZES.map(String))],
    ]),
  )
  await db.member.updateMany({ where: { organizationId: organization.id, id: actor.id }, data: wanted })
}
