/** Why somebody whom a provider vouches for is not let in. */
export type NotRecognized =
  | 'notInvited'
  | 'inactive'
  | 'otherIdentity'
  /** The address has an account already, which is to be shown first. */
  | 'hasAccount'
  /** Somebody else is linked to it. */
  | 'linkedElsewhere'
  /** Their organization takes nobody but by its own provider. */
  | 'needsSso'
  | 'claimMissing'
  /** It began in another browser, long ago, or was used before; or who it is of has changed in this very moment. */
  | 'expiredSignIn'
/** @property code the claim that is missing. */
export type Recognized = { credentialId: string } | { problem: NotRecognized; code?: string }
