import { DAY_MS, HOUR_MS } from '../time/days.ts'

/** Mails that open links may send to one address of an organization within a day. */
export const MAILS_PER_ADDRESS = 3
/** Milliseconds between two mails of a link to one address. */
export const REPEAT_AFTER_MS = 60_000
/** Mails to visitors without a proof of work that a link sends within an hour. */
export const UNPROVEN_PER_HOUR = 20
/** Registrations that wait at once for mails of an organization, with and without a proof of work. */
export const MAX_WAITING = { proven: 5_000, unproven: 500 }
/** Milliseconds that a registration waits for its mail, and then that the mail's link works. */
export const REGISTRATION_MS = 2 * DAY_MS
/** Characters of a visitor's name. */
export const MAX_VISITOR_NAME_LENGTH = 80
/** Email domains that a link may be limited to. */
export const MAX_EMAIL_DOMAINS = 50
/** Invites of a link, in all and within a day. */
export const LINK_INVITES = { minimum: 1, maximum: 1_000_000 }
/** Seconds to wait while too many registrations wait. */
export const BUSY_SECONDS = HOUR_MS / 1_000
