import type { Links, Mode } from '../../domain/context.ts'
import { signAccountLink } from '../../domain/secrets/account-tokens.ts'
import { signBounceAddress } from '../../domain/secrets/bounce-address.ts'
import { signInvitation } from '../../domain/secrets/invitation-tokens.ts'
import { signMediaLink } from '../../domain/secrets/media-tokens.ts'
import { signUnsubscribing } from '../../domain/secrets/unsubscribe-tokens.ts'

/** Path of the candidates' pages. Mails that were sent carry it. */
export const INVITATION_PATH = '/i'
/** Path of what an organization's brand loads: by what it has, so that it never changes. Mails that were sent carry it. */
export const brandPath = (organizationId: string, file: string): string => `${INVITATION_PATH}/brand/${organizationId}/${file}`
/** What stands behind it for the page of a mail that was a test, in place of a token. */
export const TEST_PAGE = '/test'
/** Path of the pages that stop mails. Mails that were sent carry it. */
export const UNSUBSCRIBE_PATH = '/u'
/** Path of the portal. Mails that were sent carry it. */
export const PORTAL_PREFIX = '/portal'
/** What the path of a portal page has behind {@link PORTAL_PREFIX} where it shows test data. */
const TEST_DATA = '/test'
/** Path of the pages of an organization in the portal: each window says by its address which data it shows. */
export const portalPathOf = ({ organization, mode }: { organization: { id: string }; mode: Mode }): string =>
  `${PORTAL_PREFIX}${mode === 'test' ? TEST_DATA : ''}/${organization.id}/`
/** Whether an address is of a page that shows test data. */
export const showsTestData = (url: string): boolean => url.startsWith(`${PORTAL_PREFIX}${TEST_DATA}/`)
/** The address that has the route of a page: pages that show test data are those that show live data. */
export const routedAs = (url: string): string =>
  showsTestData(url) ? PORTAL_PREFIX + url.slice(PORTAL_PREFIX.length + TEST_DATA.length) : url

/** Drops the slash at the end of an API path, so that both forms reach the same route. @param prefixes of the APIs. */
export function withoutTrailingSlash(url: string, prefixes: readonly string[]): string {
  if (!prefixes.some((prefix) => url.startsWith(`${prefix}/`))) return url
  return url.replace(/^([^?]*[^/?])\/(?=\?|$)/, '$1')
}

/** Path of the recordings that an organization's own systems are given links to. */
export const MEDIA_PATH = '/media'

/** The public address of the service, without a trailing slash, and the keys that sign links, newest first. */
export type Site = { publicUrl: string; secretKeys: readonly string[] }

/** Makes the links that others are given. @param site read each time: with PORT=0 its address is known only when the service listens. */
export const createLinks = (site: Readonly<Site>): Links => ({
  bounceAddress: (emailId, domain) => signBounceAddress(site.secretKeys, emailId, domain),
  invitationUrl: (invite) => `${site.publicUrl}${INVITATION_PATH}/${signInvitation(site.secretKeys, invite)}`,
  unsubscribeUrl: (inviteId) => `${site.publicUrl}${UNSUBSCRIBE_PATH}/${signUnsubscribing(site.secretKeys, inviteId)}`,
  accountUrl: (link) => `${site.publicUrl}${PORTAL_PREFIX}/${link.kind}/${signAccountLink(site.secretKeys, link)}`,
  mediaUrl: (link) => `${site.publicUrl}${MEDIA_PATH}/${signMediaLink(site.secretKeys, link)}`,
  portalUrl: (where, page) => `${site.publicUrl}${portalPathOf(where)}${page}`,
  signInUrl: (providerId, part) => `${site.publicUrl}${PORTAL_PREFIX}/sign-in/with/${providerId}${part ? `/${part}` : ''}`,
  resultUrl: ({ organization, mode, submissionId }) =>
    `${site.publicUrl}${portalPathOf({ organization, mode })}results/${submissionId}`,
  forgotUrl: () => `${site.publicUrl}${PORTAL_PREFIX}/forgot`,
  logoUrl: ({ organizationId, hash }) => `${site.publicUrl}${brandPath(organizationId, hash)}`,
  testUrl: () => `${site.publicUrl}${INVITATION_PATH}${TEST_PAGE}`,
})
