import type { Mode } from '../../db/tenant-db.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import type { InvitationRef } from '../secrets/invitation-tokens.ts'
import type { MediaLink } from '../secrets/media-tokens.ts'

/** Addresses in emails, pages, and responses. Addresses marked as secret grant access to anyone who has them: never log or store them. */
export type Links = {
  /** Envelope sender of an email, where bounces arrive. */
  bounceAddress: (emailId: string, domain: string) => string
  /** Invitation page. Secret. */
  invitationUrl: (invite: InvitationRef) => string
  /** Page where the candidate unsubscribes. Secret. */
  unsubscribeUrl: (inviteId: string) => string
  /** Open link of an assessment. */
  openUrl: (token: string) => string
  /** Start page of a person who registered by an open link. Secret. */
  registrationUrl: (registrationId: string) => string
  /** Page where a member joins or sets a new password. Secret. */
  accountUrl: (link: AccountLinkRef) => string
  /** Recording, for a limited time. Secret. */
  mediaUrl: (link: MediaLink) => string
  /** Page with shared results. Secret. */
  shareUrl: (shareLinkId: string) => string
  /** Page of an organization in the portal. */
  portalUrl: (where: { organization: { id: string }; mode: Mode }, page: string) => string
  /** Addresses for an identity provider. */
  signInUrl: (providerId: string, part?: 'callback' | 'initiate' | 'logout') => string
  /** Page of a released result in the portal. */
  resultUrl: (result: { organization: { id: string }; mode: Mode; submissionId: string }) => string
  /** Page to request a password reset. */
  forgotUrl: () => string
  /** Image of an organization's logo. */
  logoUrl: (logo: { organizationId: string; hash: string }) => string
  /** Page that explains test emails. */
  testUrl: () => string
}
