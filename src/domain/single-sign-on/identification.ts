import type { PendingJoin } from '../sign-in/account-links.ts'

/** Reason for rejecting a person that a provider has identified. */
export type IdentificationProblem =
  | 'notInvited'
  | 'inactive'
  | 'otherIdentity'
  /** The address has an account already, which is to be shown first. */
  | 'hasAccount'
  /** The link was copied, and neither it nor the provider shows whose the address is. */
  | 'needsMailedLink'
  /** Nobody has shown whose the address of the account is. */
  | 'unproven'
  /** Somebody else is linked to it. */
  | 'linkedElsewhere'
  /** Their organization takes nobody but by its own provider. */
  | 'needsSso'
  | 'claimMissing'
  /** It began in another browser, long ago, or was used before; or who it is of has changed in this very moment. */
  | 'expiredSignIn'
/** @property join membership to activate after the sign-in. @property code missing claim. */
export type Identification = { credentialId: string; join?: PendingJoin } | { problem: IdentificationProblem; code?: string }
