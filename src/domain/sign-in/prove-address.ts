import { unscopedPrisma } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { expireResetLinks } from './account-links.ts'
import { raiseAuthVersion } from './auth-version.ts'
import { endSessions } from './end-sessions.ts'
import { NO_PASSWORD } from './passwords.ts'
import { type Credential, type EndReason, findMemberships, recordInAllOrganizations } from './sessions.ts'

/**
 * Must be called in every transaction in which a person proves an address: by a link from an email or the operator, or by the identity
 * provider of the organization that owns the domain. Before the first proof anybody may have set the account up, with a link that an admin
 * copied, so all its sign-in data is removed. The caller then adds the proven password or identity.
 *
 * Lock the credential first, see {@link lockCredential}: requests that add a factor or an identity wait for it, and then check again.
 *
 * @returns the credential as it is now.
 */
export async function proveAddress(inside: ServiceContext, credentialId: string): Promise<Credential> {
  const where = { id: credentialId }
  const credential = await inside.db.credential.findUniqueOrThrow({ where })
  if (credential.emailVerifiedAt) return credential
  await removeCredentials(inside, credentialId, 'address_proven')
  await recordInAllOrganizations(inside, await findMemberships(inside, credentialId), { action: 'proved_address' })
  return inside.db.credential.update({ where, data: { emailVerifiedAt: inside.deps.clock(), failures: 0 } })
}

/**
 * Removes all sign-in data of a person, and sign-ins in progress, which carry the credential's version. Identities of an organization's own
 * provider stay, because they only sign in to that organization.
 */
export async function removeCredentials(inside: ServiceContext, credentialId: string, reason: EndReason): Promise<void> {
  const { db, deps } = inside
  const where = { credentialId }
  await db.secondFactor.deleteMany({ where })
  await db.recoveryCode.deleteMany({ where })
  await db.device.deleteMany({ where })
  await db.savedForm.deleteMany({ where })
  await unscopedPrisma(db).identity.deleteMany({ where: { ...where, organizationId: null } })
  const data = { passwordHash: NO_PASSWORD, passwordChangedAt: deps.clock() }
  await db.credential.update({ where: { id: credentialId }, data })
  await expireResetLinks(inside, credentialId)
  await endSessions(inside, where, reason)
  await raiseAuthVersion(inside, credentialId)
}
