import type { ServiceContext } from '../context.ts'
import type { IdToken } from '../ports/identity-provider.ts'
import { findDomainOwner } from '../sign-in/domain-owners.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import type { FoundProvider } from './providers.ts'
import { claimOfSharedIssuer } from './shared-issuers.ts'

/** Address of a token, if the provider's organization has verified its domain; else null. */
export async function findVerifiedAddress(
  inside: ServiceContext,
  provider: FoundProvider,
  token: IdToken,
): Promise<string | null> {
  const email = token.email && toStoredAddress(token.email)
  if (!email || !isEmailAddress(email) || token.emailVerified === false || provider.organizationId === null) return null
  return (await findDomainOwner(inside, email))?.organizationId === provider.organizationId ? email : null
}

/** Claim that a shared issuer must require and doesn't; null: none is missing. */
export function findMissingClaim({ issuer, requiredClaims }: FoundProvider): 'tid' | 'hd' | null {
  const claim = claimOfSharedIssuer(issuer)
  return claim && !Object.hasOwn(requiredClaims as object, claim) ? claim : null
}
