// What Greenhouse's documentation leaves open, each of it a reading of ours that its sandbox may refute. docs/ats.md marks them †.

/** Of a name in the menu, in characters: longer ones are cut by others as well. */
export const MAX_LABEL_LENGTH = 250
/** What partner_status says when it is not `complete`, the only word with a meaning. */
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
/** The PATCH carries the key that the customer has given to Greenhouse: `ours`, not one of the vendor's. */
export const PATCH_KEY = 'ours'
