import type { PendingJoin } from '../sign-in/account-links.ts'

/** Reason for rejecting a person that a provider has identified. */
export type IdentificationProblem =
  | 'notInvited'
  | 'inactive'
  | 'otherIdentity'
  /** The address has an account, which must sign in first. */
  | 'hasAccount'
  /** The link was copied, and nothing proves the address. */
  | 'needsMailedLink'
  /** The account's address is not proven. */
  | 'unproven'
  /** Another identity of the provider is linked to the account. */
  | 'linkedElsewhere'
  /** The organization accepts only its own provider. */
  | 'needsSso'
  | 'claimMissing'
  /** The sign-in began in another browser, expired, or was used; or the person's data has just changed. */
  | 'expiredSignIn'
/** @property join membership to activate after the sign-in. @property code missing claim. */
export type Identification = { credentialId: string; join?: PendingJoin } | { problem: IdentificationProblem; code?: string }
