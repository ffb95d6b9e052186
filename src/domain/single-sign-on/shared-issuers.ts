import { isUuid } from '../text/uuid.ts'

/**
 * The claim without which an issuer's word says nothing of an address, because strangers have accounts there as well: at Microsoft the owner of any
 * tenant can put any address into `email`, unless the issuer is that of one tenant; at Google an account can have been made with any address, and `hd`
 * alone says whose it is. Null: the issuer is the organization's own.
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
