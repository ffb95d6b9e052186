import { type AccountLink, claimLink, isOpen } from '../access/account-links.ts'
import { holdCredential } from '../access/factors.ts'
import { NO_PASSWORD } from '../access/passwords.ts'
import { findCredential } from '../access/sign-in.ts'
import type { ServiceContext } from '../context.ts'
import { attach, createCredential, isBySsoOnly, lockMember } from '../members/join.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import type { IdToken } from '../values/identity-provider.ts'
import { linkIdentity } from './identities.ts'
import { namesOf } from './names.ts'
import type { FoundProvider } from './providers.ts'
import type { Recognized } from './recognized.ts'

type Joining = { link: AccountLink; ref: AccountLinkRef; known: string | undefined }

/**
 * Joins as the member that a link was made for, who signs in by the provider from now on. Whose address has an account already shows first
 * that it is theirs: a link, which an admin may have seen too, makes nobody of anybody.
 *
 * @param known whose account of the provider's it is: where the address is theirs, that is what shows it.
 */
export async function joinBy(
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  { link, ref, known }: Joining,
): Promise<Recognized> {
  await lockMember(inside, link)
  if (provider.organizationId === null && (await isBySsoOnly(inside, link))) return { problem: 'needsSso' }
  const found = await findOrMakeAccount(inside, { link, ref, known })
  if ('problem' in found) return found
  await claimLink(inside, ref)
  const { credentialId } = found
  const { member } = link
  if (ref.isMailed) await inside.db.credential.update({ where: { id: credentialId }, data: { provenAt: inside.deps.clock() } })
  const { firstName, lastName } = namesOf(token)
  const names = { firstName: firstName || member.user.firstName, lastName: lastName || member.user.lastName }
  await attach(inside, link, credentialId, names)
  if (!known) await linkIdentity(inside, provider, token, { credentialId, members: [member], linkedBy: 'join', isNew: true })
  return { credentialId }
}

/** What whoever joins signs in with from now on, which nobody takes away until the transaction ends: theirs, or one that has been made. */
async function findOrMakeAccount(inside: ServiceContext, { link: { member }, ref, known }: Joining): Promise<Recognized> {
  if (known && !(await holdCredential(inside, known))) return { problem: 'expiredSignIn' }
  const credential = await findCredential(inside, member.email)
  if (known && credential?.id !== known) return { problem: 'linkedElsewhere' }
  if (member.credentialId || (credential && !known)) return { problem: 'hasAccount' }
  if (!(await isOpen(inside, ref))) return { problem: 'notInvited' }
  const credentialId = known ?? (await createCredential(inside, member.email, NO_PASSWORD))?.id
  return credentialId ? { credentialId } : { problem: 'hasAccount' }
}
