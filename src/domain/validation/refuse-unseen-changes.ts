import { isDeepStrictEqual } from 'node:util'
import type { Issue, LastChange } from '../errors.ts'
import { throwIfIssues } from './throw-if-issues.ts'

/** When a row was last changed, as its reader has seen it: what is written then is refused if that is no longer so. */
export type SeenAt = Date
/**
 * @property isAsSeen whether it is as whoever writes has seen it. @property findBy who has changed it last, as far as that is known: asked for
 *   where it is refused.
 */
export type SeenVersion = { isAsSeen: boolean; findBy: () => Promise<LastChange | undefined> }

/**
 * Keeps a change from undoing another that its writer has not seen.
 *
 * @param row as it is. @param wanted as it is to be. @throws DomainError invalid, with an issue (rule `changed`) for each field in which the
 *   two differ, when the row is no longer as it was seen. Where they don't differ nothing would be undone.
 */
export async function refuseUnseenChanges<T extends object>(
  { isAsSeen, findBy }: SeenVersion,
  row: T,
  wanted: Partial<T>,
): Promise<void> {
  if (isAsSeen) return
  const now = new Map<string, unknown>(Object.entries(row))
  const differing = Object.entries(wanted).filter(([field, value]) => !isDeepStrictEqual(value, now.get(field)))
  if (differing.length === 0) return
  const by = await findBy()
  throwIfIssues(differing.map(([field]): Issue => ({ field, rule: 'changed', value: now.get(field), ...(by && { by }) })))
}

/** The time of a change: later than that of the one before, whatever the clock says, because readers tell versions apart by it. */
export const timeOfChange = (now: Date, { updatedAt }: { updatedAt: Date }): Date =>
  new Date(Math.max(now.getTime(), updatedAt.getTime() + 1))
