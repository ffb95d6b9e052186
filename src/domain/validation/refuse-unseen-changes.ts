import { isDeepStrictEqual } from 'node:util'
import type { Issue, LastChange } from '../errors.ts'
import { throwIfIssues } from './throw-if-issues.ts'

/** Time of the last change that the writer has read. Writing is refused if the row was changed since. */
export type SeenAt = Date
/**
 * @property isAsSeen true if the row is unchanged since the writer read it. @property findBy finds the author of the last change, if known;
 *   called only to refuse.
 */
export type SeenVersion = { isAsSeen: boolean; findBy: () => Promise<LastChange | undefined> }

/**
 * Prevents lost updates.
 *
 * @param row stored values. @param wanted new values. @throws DomainError invalid with an issue (rule `changed`) for each differing field,
 *   if the row was changed since it was read.
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
  const author = await findBy()
  throwIfIssues(
    differing.map(([field]): Issue => ({ field, rule: 'changed', value: now.get(field), ...(author && { by: author }) })),
  )
}

/** Time of a change, always later than the previous one's, because it identifies the version. */
export const timeOfChange = (now: Date, { updatedAt }: { updatedAt: Date }): Date =>
  new Date(Math.max(now.getTime(), updatedAt.getTime() + 1))
