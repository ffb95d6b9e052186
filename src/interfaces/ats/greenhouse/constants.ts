// Assumptions where Greenhouse's documentation is silent. Its sandbox may refute them. docs/ats.md marks them †.

/** Longest name in the menu, in characters. Other providers cut longer names, too. */
export const MAX_LABEL_LENGTH = 250
/** Values of partner_status besides `complete`, the only one that Greenhouse interprets. */
export const WORDS = {
  invited: 'invited',
  undelivered: 'invite_failed',
  accepted: 'accepted',
  started: 'started',
  in_review: 'in_review',
  released: 'complete',
  expired: 'expired',
  revoked: 'revoked',
  declined: 'declined',
} as const
/** The PATCH is authenticated by the key that the customer gave to Greenhouse. */
export const PATCH_KEY = 'inboundKey'
