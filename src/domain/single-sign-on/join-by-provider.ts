import type { ServiceContext } from '../context.ts'
import { createCredential, isBySsoOnly } from '../members/join.ts'
import type { IdToken } from '../ports/identity-provider.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { type AccountLink, isLinkUsable } from '../sign-in/account-links.ts'
import { lockMember } from '../sign-in/complete-join.ts'
import { lockCredential } from '../sign-in/credential-lock.ts'
import { NO_PASSWORD } from '../sign-in/passwords.ts'
import { proveAddress } from '../sign-in/prove-address.ts'
import { findCredential } from '../sign-in/sign-in.ts'
import { findMissingClaim, findVerifiedAddress } from './find-verified-address.ts'
import type { Identification } from './identification.ts'
import { linkIdentity } from './identities.ts'
import type { FoundProvider } from './providers.ts'
import { tokenNamesOf } from './token-names.ts'

type JoinAttempt = { link: AccountLink; ref: AccountLinkRef; knownCredentialId: string | undefined }

/**
 * Joins as the member that a link was made for, who signs in by the provider from now on: once their sign-in is complete. A provider is linked only to
 * an address that is proven by this: by the link, or by the provider of the organization that owns its domain. Otherwise an admin who has copied the
 * link could link an account of their own.
 *
 * @param knownCredentialId credential that is already linked to this account of the provider.
 */
export async function joinByProvider(
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  { link, ref, knownCredentialId }: JoinAttempt,
): Promise<Identification> {
  await lockMember(inside, link)
  if (!(await isLinkUsable(inside, ref))) return { problem: 'notInvited' }
  if (provider.organizationId === null && (await isBySsoOnly(inside, link))) return { problem: 'needsSso' }
  const { member, organizationId, memberId } = link
  const account = knownCredentialId
    ? await findKnownAccount(inside, member.email, knownCredentialId)
    : await proveAccount(inside, provider, token, { link, ref })
  if ('problem' in account) return account
  const { credentialId } = account
  if (!knownCredentialId)
    await linkIdentity(inside, provider, token, { credentialId, members: [member], linkedBy: 'join', isNew: true })
  const { firstName, lastName } = tokenNamesOf(token)
  const names = { firstName: firstName || member.user.firstName, lastName: lastName || member.user.lastName }
  return { credentialId, join: { linkId: link.id, organizationId, memberId, ...names } }
}

async function findKnownAccount(inside: ServiceContext, email: string, knownCredentialId: string): Promise<Identification> {
  if ((await findCredential(inside, email))?.id !== knownCredentialId) return { problem: 'linkedElsewhere' }
  return (await lockCredential(inside, knownCredentialId)) ? { credentialId: knownCredentialId } : { problem: 'expiredSignIn' }
}

/** The account of the address that is proven by this: a new one, or one of an address that nobody has proven before. */
async function proveAccount(
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  { link: { member }, ref }: Pick<JoinAttempt, 'link' | 'ref'>,
): Promise<Identification> {
  const isProof = ref.provesAddress || (await ownsMemberDomain(inside, provider, token, member.email))
  const found = await findCredential(inside, member.email)
  const locked = found && (await lockCredential(inside, found.id))
  if (found && !(isProof && locked?.emailVerifiedAt === null)) return { problem: 'hasAccount' }
  if (!isProof) return { problem: 'needsMailedLink' }
  const newCredential = { email: member.email, passwordHash: NO_PASSWORD, isProven: true }
  const credential = locked ? await proveAddress(inside, locked.id) : await createCredential(inside, newCredential)
  return credential ? { credentialId: credential.id } : { problem: 'hasAccount' }
}

/** True if the provider's organization verified the member's domain and the token has the member's address. */
const ownsMemberDomain = async (
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
  email: string,
): Promise<boolean> =>
  findMissingClaim(provider) === null &&
  (await findVerifiedAddress(inside, provider, token))?.toLowerCase() === email.toLowerCase()
