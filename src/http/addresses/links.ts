import type { Mode } from '../../domain/context.ts'
import type { Links } from '../../domain/ports/links.ts'
import { signAccountLink } from '../../domain/secrets/account-tokens.ts'
import { signBounceAddress } from '../../domain/secrets/bounce-address.ts'
import { signInvitation } from '../../domain/secrets/invitation-tokens.ts'
import { signMediaLink } from '../../domain/secrets/media-tokens.ts'
import { signRegistration } from '../../domain/secrets/registration-tokens.ts'
import { signShareLink } from '../../domain/secrets/share-tokens.ts'
import { signUnsubscribeToken } from '../../domain/secrets/unsubscribe-tokens.ts'

// Sent mails contain these paths: they must not change.

/** Candidates' pages. */
export const INVITATION_PATH = '/i'
/** Files of an organization's brand. `file` is named by its hash, so its content never changes. */
export const brandPath = (organizationId: string, file: string): string => `${INVITATION_PATH}/brand/${organizationId}/${file}`
/** Page that a test mail links to, below {@link INVITATION_PATH} in place of a token. */
export const TEST_PAGE = '/test'
export const UNSUBSCRIBE_PATH = '/u'
/** Open links, and mailed links of people who have registered by one. */
export const OPEN_PATH = '/open'
/** Precedes the token of a mailed link, below {@link OPEN_PATH}. */
export const BEGIN_SEGMENT = 'begin'
export const PORTAL_PREFIX = '/portal'
/** Follows {@link PORTAL_PREFIX} on pages that show test data. */
const TEST_DATA = '/test'
/** Portal path of an organization. The mode is part of the address, so that each window keeps its own. */
export const portalPathOf = ({ organization, mode }: { organization: { id: string }; mode: Mode }): string =>
  `${PORTAL_PREFIX}${mode === 'test' ? TEST_DATA : ''}/${organization.id}/`
export const showsTestData = (url: string): boolean => url.startsWith(`${PORTAL_PREFIX}${TEST_DATA}/`)
/** Removes the test segment from a portal address, because live and test pages share their routes. */
export const toRoutePath = (url: string): string =>
  showsTestData(url) ? PORTAL_PREFIX + url.slice(PORTAL_PREFIX.length + TEST_DATA.length) : url

/** Removes a trailing slash from an API path. @param prefixes path prefixes of the APIs. */
export function withoutTrailingSlash(url: string, prefixes: readonly string[]): string {
  if (!prefixes.some((prefix) => url.startsWith(`${prefix}/`))) return url
  return url.replace(/^([^?]*[^/?])\/(?=\?|$)/, '$1')
}

/** Links to results, for people without an account. */
export const SHARE_PATH = '/shared'

/** Signed links to recordings, for the systems of an organization. */
export const MEDIA_PATH = '/media'

/** @property publicUrl without a trailing slash. @property secretKeys sign links, newest first. */
export type SiteConfig = { publicUrl: string; secretKeys: readonly string[] }

/** Creates the links in mails and API answers. @param site is read each time: with PORT=0 its address is known only when the service listens. */
export const createLinks = (site: Readonly<SiteConfig>): Links => ({
  bounceAddress: (emailId, domain) => signBounceAddress(site.secretKeys, emailId, domain),
  invitationUrl: (invite) => `${site.publicUrl}${INVITATION_PATH}/${signInvitation(site.secretKeys, invite)}`,
  unsubscribeUrl: (inviteId) => `${site.publicUrl}${UNSUBSCRIBE_PATH}/${signUnsubscribeToken(site.secretKeys, inviteId)}`,
  openUrl: (token) => `${site.publicUrl}${OPEN_PATH}/${token}`,
  registrationUrl: (id) => `${site.publicUrl}${OPEN_PATH}/${BEGIN_SEGMENT}/${signRegistration(site.secretKeys, id)}`,
  accountUrl: (link) => `${site.publicUrl}${PORTAL_PREFIX}/${link.kind}/${signAccountLink(site.secretKeys, link)}`,
  mediaUrl: (link) => `${site.publicUrl}${MEDIA_PATH}/${signMediaLink(site.secretKeys, link)}`,
  shareUrl: (shareLinkId) => `${site.publicUrl}${SHARE_PATH}/${signShareLink(site.secretKeys, shareLinkId)}`,
  portalUrl: (where, page) => `${site.publicUrl}${portalPathOf(where)}${page}`,
  signInUrl: (providerId, part) => `${site.publicUrl}${PORTAL_PREFIX}/sign-in/with/${providerId}${part ? `/${part}` : ''}`,
  resultUrl: ({ organization, mode, submissionId }) =>
    `${site.publicUrl}${portalPathOf({ organization, mode })}results/${submissionId}`,
  forgotUrl: () => `${site.publicUrl}${PORTAL_PREFIX}/forgot`,
  logoUrl: ({ organizationId, hash }) => `${site.publicUrl}${brandPath(organizationId, hash)}`,
  testUrl: () => `${site.publicUrl}${INVITATION_PATH}${TEST_PAGE}`,
})
