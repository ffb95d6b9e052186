import { isUuid } from '../text/uuid.ts'

/**
 * Claim that a token of a shared issuer needs, because strangers have accounts there, too. Microsoft: the owner of any tenant can put any
 * address into `email`, unless the issuer is a single tenant. Google: an account can have any address; `hd` proves the domain. Null: the
 * issuer is the organization's own.
 *
 * @see https://learn.microsoft.com/entra/identity-platform/migrate-off-email-claim-authorization
 * @see https://developers.google.com/identity/openid-connect/openid-connect
 */
export function claimOfSharedIssuer(issuer: string): 'tid' | 'hd' | null {
  const url = URL.parse(issuer)
  if (url?.hostname === 'accounts.google.com') return 'hd'
  if (url?.hostname === 'login.microsoftonline.com' && !isUuid(url.pathname.split('/')[1] ?? '')) return 'tid'
  return null
}
