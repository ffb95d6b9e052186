import { isDeepStrictEqual } from 'node:util'
import type { Issue } from '../errors.ts'
import { refuse } from './refuse.ts'

/** When a row was last changed, as its reader has seen it: what is written then is refused if that is no longer so. */
export type Seen = Date

/**
 * Keeps a change from undoing another that its writer has not seen.
 *
 * @param seen undefined: whoever writes has not looked, and writes whatever the row is.
 * @param current the row as it is. @param wanted as it is to be. @throws DomainError invalid, with an issue (rule `changed`) for each field
 *   in which the two differ, when the row is no longer as it was seen. Where they don't differ nothing would be undone.
 */
export function refuseUnseenChanges<T extends object>(
  { updatedAt }: { updatedAt: Date },
  seen: Seen | undefined,
  current: T,
  wanted: Partial<T>,
): void {
  if (seen === undefined || updatedAt.getTime() === seen.getTime()) return
  const now = new Map<string, unknown>(Object.entries(current))
  refuse(
    Object.entries(wanted).flatMap(([field, value]): Issue[] =>
      isDeepStrictEqual(value, now.get(field)) ? [] : [{ field, rule: 'changed', value: now.get(field) }],
    ),
  )
}

/** The time of a change: later than that of the one before, whatever the clock says, because readers tell versions apart by it. */
export const timeOfChange = (now: Date, { updatedAt }: { updatedAt: Date }): Date =>
  new Date(Math.max(now.getTime(), updatedAt.getTime() + 1))
