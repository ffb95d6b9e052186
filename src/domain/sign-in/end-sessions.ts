import type { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { hashToken } from './session-tokens.ts'
import { type EndReason, recordInAllOrganizations, type SignedIn, toEndedSession } from './sessions.ts'

/** A session as its owner sees it. */
export type SessionSummary = { id: string; userAgent: string; network: string; createdAt: Date; lastSeenAt: Date }

/** Sessions of the signed-in person, last used first. */
export const listSessions = ({ db, deps }: ServiceContext, { credential }: SignedIn): Promise<SessionSummary[]> =>
  db.session.findMany({
    where: { credentialId: credential.id, endedAt: null, expiresAt: { gt: deps.clock() } },
    orderBy: [{ lastSeenAt: 'desc' }, { id: 'desc' }],
    select: { id: true, userAgent: true, network: true, createdAt: true, lastSeenAt: true },
  })

/** Ends the session of the browser with this token. */
export async function endSession(service: ServiceContext, token: string, reason: EndReason): Promise<void> {
  await endSessions(service, { tokenHash: hashToken(token) }, reason)
}

/** Ends one of the person's own open sessions; ignores other ids. */
export const endOwnSession = (service: ServiceContext, signedIn: SignedIn, id: string): Promise<void> =>
  isUuid(id) ? endOwnSessions(service, signedIn, { id }, 'ended_by_owner') : Promise.resolve()

/** Ends all of the person's sessions except this one. */
export const endOtherSessions = (
  service: ServiceContext,
  signedIn: SignedIn,
  reason: EndReason = 'ended_by_owner',
): Promise<void> => endOwnSessions(service, signedIn, { id: { not: signedIn.sessionId } }, reason)

const endOwnSessions = (
  service: ServiceContext,
  { credential, memberships }: SignedIn,
  where: Prisma.SessionWhereInput,
  reason: EndReason,
): Promise<void> =>
  inTransaction(service, async (inside) => {
    const count = await endSessions(inside, { ...where, credentialId: credential.id }, reason)
    if (count > 0) await recordInAllOrganizations(inside, memberships, { action: 'ended_sessions', details: { count } })
  })

/** Ends open sessions. @returns their number. */
export async function endSessions(
  { db, deps }: ServiceContext,
  where: Prisma.SessionWhereInput,
  reason: EndReason,
): Promise<number> {
  const now = deps.clock()
  const whereOpen = { endedAt: null, expiresAt: { gt: now } }
  const { count } = await db.session.updateMany({ where: { ...where, ...whereOpen }, data: toEndedSession(now, reason) })
  return count
}
