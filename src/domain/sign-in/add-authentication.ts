import type { ServiceContext } from '../context.ts'
import { authenticationKindOf, type NewAuthentication, toAuthenticationRow } from './authentication-rows.ts'
import { rememberDevice } from './devices.ts'
import { notifyOwnersOfBreakGlass } from './notify-break-glass.ts'
import { createSessionToken } from './session-tokens.ts'
import { type Browser, type Credential, findMemberships, lockUnchangedCredential, type NewSession } from './sessions.ts'

/** Adds an authentication to a session. Does nothing if the session has ended. */
export async function addAuthentication(inside: ServiceContext, sessionId: string, proof: NewAuthentication): Promise<void> {
  const { db, deps } = inside
  const session = await db.session.findUnique({ where: { id: sessionId }, select: { credentialId: true } })
  if (!session) return
  const at = deps.clock()
  const { id, ...row } = toAuthenticationRow(deps.newId(), proof, at)
  const providerId = typeof proof === 'string' ? null : proof.providerId
  const earlier = await db.sessionAuthentication.updateMany({
    where: { sessionId, kind: authenticationKindOf(proof), providerId },
    data: row,
  })
  if (earlier.count === 0) await db.sessionAuthentication.create({ data: { id, sessionId, ...row } })
  if (authenticationKindOf(proof) === 'oidc') return
  await notifyOwnersOfBreakGlass(inside, { id: sessionId }, await findMemberships(inside, session.credentialId))
}

/**
 * Adds an authentication and renews the session's token, so that a stolen earlier one is worthless.
 *
 * @returns null if the session has ended, or the credential was changed.
 */
export async function renewSession(
  inside: ServiceContext,
  sessionId: string,
  { proof, credential, browser }: { proof: NewAuthentication; credential: Credential; browser: Browser },
): Promise<NewSession | null> {
  if (!(await lockUnchangedCredential(inside, credential))) return null
  const where = { id: sessionId, endedAt: null, expiresAt: { gt: inside.deps.clock() } }
  const { token, tokenHash, expiresAt } = createSessionToken(inside)
  const { count } = await inside.db.session.updateMany({ where, data: { tokenHash } })
  if (count === 0) return null
  await addAuthentication(inside, sessionId, proof)
  return { token, expiresAt, device: (await rememberDevice(inside, credential, browser)).token }
}
