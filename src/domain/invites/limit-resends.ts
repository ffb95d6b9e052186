import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_RESENDS } from '../limits.ts'
import { INVITATION_KINDS } from '../mails/candidate-mails.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Most mails of an invite within a time, besides the first one. */
const LIMITS = [
  { count: 1, windowMs: MINUTE_MS },
  { count: 5, windowMs: DAY_MS },
]
/** Retry-After seconds for invites that can never be sent again: long enough for a person to notice. */
const NEVER_SECONDS = 86_400

/**
 * Refuses to mail an invite again, by the same or a new link, before its time. The mail of its creation does not count.
 *
 * @returns true if it was sent again before.
 * @throws DomainError too_many_mails, with the time from which it may be, or null where it may not be any more.
 */
export async function limitResends(
  { db, deps, organization }: Context,
  invite: { id: string; createdAt: Date },
): Promise<boolean> {
  const mails = await db.inviteEmail.findMany({
    where: { organizationId: organization.id, inviteId: invite.id, kind: { in: [...INVITATION_KINDS] } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: MAX_RESENDS + 1,
    select: { createdAt: true },
  })
  const isFirst = (mail: { createdAt: Date } | undefined) => mail?.createdAt.getTime() === invite.createdAt.getTime()
  const resent = isFirst(mails.at(-1)) ? mails.slice(0, -1) : mails
  if (resent.length >= MAX_RESENDS)
    throw new DomainError('too_many_mails', { issues: [{ field: '', rule: 'mailed', limit: null }], retryAfter: NEVER_SECONDS })
  const now = deps.clock().getTime()
  const times = LIMITS.map(({ count, windowMs }) => (resent[count - 1]?.createdAt.getTime() ?? -Infinity) + windowMs)
  const free = Math.max(...times)
  if (free > now) throw tooEarly(now, free)
  return mails.length > 0
}

const tooEarly = (now: number, free: number): DomainError =>
  new DomainError('too_many_mails', {
    issues: [{ field: '', rule: 'mailed', limit: new Date(free) }],
    retryAfter: Math.ceil((free - now) / 1_000),
  })

/** The invites that this process mails again at the moment. */
const underWay = new Set<string>()

/**
 * Does the work for the invite, and refuses simultaneous resends of the same invite immediately. Otherwise each would occupy a database
 * connection while it waits for the row, only to be refused.
 *
 * @throws DomainError too_many_mails.
 */
export async function refuseConcurrentResend<T>(
  { organization, deps }: Context,
  inviteId: string,
  work: () => Promise<T>,
): Promise<T> {
  const invite = `${organization.id} ${inviteId}`
  if (underWay.has(invite)) {
    const now = deps.clock().getTime()
    throw tooEarly(now, now + MINUTE_MS)
  }
  underWay.add(invite)
  try {
    return await work()
  } finally {
    underWay.delete(invite)
  }
}
