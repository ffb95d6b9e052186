import { findNames } from '../audit/audit-log.ts'
import { may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { findInviteEvents, type InviteEvent } from '../events/feed.ts'
import { requireVisibleInvite } from './invites.ts'

/** Events of a timeline: the last ones of an invite that has more. */
export const TIMELINE_LENGTH = 200

/**
 * Events of an invite, newest last. `names` has the members and API keys by id, for actors who may read everything; `isWhole` is
 * true if the events go back to the invite's creation.
 */
export type Timeline = { events: InviteEvent[]; names: Map<string, string>; isWhole: boolean }

/** @throws DomainError invite_not_found, not_permitted. */
export async function readTimeline(ctx: Context, inviteId: string): Promise<Timeline> {
  await requireVisibleInvite(ctx, inviteId)
  return readTimelineOf(ctx, [inviteId])
}

/** The timeline of invites that the caller may see. */
export async function readTimelineOf(ctx: Context, inviteIds: readonly string[]): Promise<Timeline> {
  const events = await findInviteEvents(ctx, inviteIds, TIMELINE_LENGTH)
  const idsOf = (kind: InviteEvent['actor']['type']) =>
    events.flatMap(({ actor }) => (actor.type === kind && actor.id !== null ? [actor.id] : []))
  // Clients don't see who works for the organization, or which systems it uses.
  const names = may(ctx, 'read')
    ? await findNames(ctx, { memberIds: idsOf('member'), keyIds: idsOf('api_key') })
    : new Map<string, string>()
  return { events, names, isWhole: events.filter(({ type }) => type === 'invite.created').length === inviteIds.length }
}
