import type { ServiceContext } from '../context.ts'
import { rememberDevice } from './devices.ts'
import { type GivenProof, kindOf, rowOfProof } from './proof-rows.ts'
import { makeSessionToken } from './session-tokens.ts'
import { type Browser, type Credential, findMemberships, lockUnchanged, type NewSession } from './sessions.ts'
import { tellOfBreakGlass } from './tell-break-glass.ts'

/** Has a session rest on one more proof, which its person has just given. Nothing comes of it where the session is gone. */
export async function addProof(inside: ServiceContext, sessionId: string, proof: GivenProof): Promise<void> {
  const { db, deps } = inside
  const session = await db.session.findUnique({ where: { id: sessionId }, select: { credentialId: true } })
  if (!session) return
  const at = deps.clock()
  const { id, ...row } = rowOfProof(deps.newId(), proof, at)
  const providerId = typeof proof === 'string' ? null : proof.providerId
  const earlier = await db.sessionAuthentication.updateMany({ where: { sessionId, kind: kindOf(proof), providerId }, data: row })
  if (earlier.count === 0) await db.sessionAuthentication.create({ data: { id, sessionId, ...row } })
  if (kindOf(proof) === 'oidc') return
  await tellOfBreakGlass(inside, { id: sessionId }, await findMemberships(inside, session.credentialId))
}

/**
 * Does the same, and gives the session another token: whoever has come by the one it had has nothing.
 *
 * @returns null when it has ended, or what its person signs in with has been changed.
 */
export async function renewSession(
  inside: ServiceContext,
  sessionId: string,
  { proof, credential, browser }: { proof: GivenProof; credential: Credential; browser: Browser },
): Promise<NewSession | null> {
  if (!(await lockUnchanged(inside, credential))) return null
  const where = { id: sessionId, endedAt: null, expiresAt: { gt: inside.deps.clock() } }
  const { token, tokenHash, expiresAt } = makeSessionToken(inside)
  const { count } = await inside.db.session.updateMany({ where, data: { tokenHash } })
  if (count === 0) return null
  await addProof(inside, sessionId, proof)
  return { token, expiresAt, device: (await rememberDevice(inside, credential, browser)).token }
}
