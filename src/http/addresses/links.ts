import type { Links } from '../../domain/context.ts'
import { signAccountLink } from '../../domain/secrets/account-tokens.ts'
import { signInvitation } from '../../domain/secrets/invitation-tokens.ts'
import { signMediaLink } from '../../domain/secrets/media-tokens.ts'

/** Path of the candidates' pages. Mails that were sent carry it. */
export const INVITATION_PATH = '/i'
/** Path of the portal. Mails that were sent carry it. */
export const PORTAL_PREFIX = '/portal'
/** Path of the recordings that an organization's own systems are given links to. */
export const MEDIA_PATH = '/media'

/** The public address of the service, without a trailing slash, and the keys that sign links, newest first. */
export type Site = { publicUrl: string; secretKeys: readonly string[] }

/** Makes the links that others are given. @param site read each time: with PORT=0 its address is known only when the service listens. */
export const createLinks = (site: Readonly<Site>): Links => ({
  invitationUrl: (invite) => `${site.publicUrl}${INVITATION_PATH}/${signInvitation(site.secretKeys, invite)}`,
  accountUrl: (link) => `${site.publicUrl}${PORTAL_PREFIX}/${link.kind}/${signAccountLink(site.secretKeys, link)}`,
  mediaUrl: (link) => `${site.publicUrl}${MEDIA_PATH}/${signMediaLink(site.secretKeys, link)}`,
  resultUrl: ({ organizationId, submissionId }) => `${site.publicUrl}${PORTAL_PREFIX}/${organizationId}/results/${submissionId}`,
})
