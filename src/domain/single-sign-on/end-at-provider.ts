import { recordAudit } from '../audit/record-audit.ts'
import { enterOrganization, type ServiceContext } from '../context.ts'
import type { LogoutToken } from '../ports/identity-provider.ts'
import { endSessions } from '../sign-in/end-sessions.ts'
import { MAX_SESSION_MS } from '../sign-in/session-tokens.ts'
import { claimToken } from '../sign-in/used-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { type FoundProvider, toIdpClient } from './providers.ts'

/**
 * Back-channel logout: ends access that rests on a provider. A session with no other authentication ends. Otherwise it only loses access to
 * the provider's organization.
 *
 * OpenID Connect Back-Channel Logout 1.0.
 *
 * @returns false if the token is invalid. A repeated token succeeds.
 */
export async function endAtProvider(service: ServiceContext, provider: FoundProvider, token: string): Promise<boolean> {
  const client = toIdpClient(service, provider)
  const answer = client && (await service.deps.identityProviders.readLogout(client, token))
  if (!answer || 'problem' in answer) return false
  const { logout } = answer
  await inTransaction(service, async (inside) => {
    const endsAt = new Date(inside.deps.clock().getTime() + MAX_SESSION_MS)
    if (!(await claimToken(inside, `logout ${provider.id} ${logout.jti}`, endsAt))) return
    for (const session of await findSessions(inside, provider, logout)) await closeSessionTo(inside, provider, session)
  })
  return true
}

/** Sessions of the provider's session, if it names one; otherwise all of the person. */
async function findSessions(
  { db, deps }: ServiceContext,
  { id: providerId }: FoundProvider,
  { issuer, subject, sid }: LogoutToken,
) {
  const word = { kind: 'oidc', providerId, ...(sid !== null && { idpSid: sid }) }
  const where = { endedAt: null, expiresAt: { gt: deps.clock() }, proofs: { some: word } }
  const bySubject = subject === null ? {} : { credential: { identities: { some: { providerId, issuer, subject } } } }
  return db.session.findMany({ where: { ...where, ...bySubject }, include: { proofs: true } })
}

type Session = Awaited<ReturnType<typeof findSessions>>[number]

async function closeSessionTo(
  inside: ServiceContext,
  { id: providerId, organization, name }: FoundProvider,
  session: Session,
): Promise<void> {
  const { id, credentialId, proofs, closedOrganizationIds } = session
  const otherProofs = proofs.filter((proof) => proof.providerId !== providerId)
  if (otherProofs.some(({ kind }) => kind === 'password' || kind === 'passkey' || kind === 'oidc')) {
    await inside.db.sessionAuthentication.deleteMany({ where: { sessionId: id, providerId } })
    const closed = organization ? [...new Set([...closedOrganizationIds, organization.id])] : closedOrganizationIds
    await inside.db.session.updateMany({ where: { id }, data: { closedOrganizationIds: closed } })
  } else await endSessions(inside, { id }, 'ended_at_provider')
  const member = organization && (await inside.db.member.findFirst({ where: { organizationId: organization.id, credentialId } }))
  if (!member) return
  const target = { kind: 'member', id: member.id } as const
  await recordAudit(enterOrganization(inside, organization), {
    action: 'ended_member_sessions',
    target,
    details: { provider: name },
  })
}
