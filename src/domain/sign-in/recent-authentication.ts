import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { confirmPassword } from './account.ts'
import { renewSession } from './add-authentication.ts'
import { hasFactor } from './has-factor.ts'
import type { Authentication, AuthenticationKind, SessionState } from './session-access.ts'
import { type Browser, findMemberships, type NewSession, recordInAllOrganizations, type SignedIn } from './sessions.ts'

/** Milliseconds for which an authentication is recent. Activity doesn't prolong it. */
export const RECENT_AUTHENTICATION_MS = 15 * 60_000

/** Kinds that require the person. A trusted browser doesn't count. */
const PERSONAL_KINDS: readonly AuthenticationKind[] = ['password', 'totp', 'passkey', 'recovery']
/** Required of people with a second factor. A password alone may be stored in the browser or known to somebody else. */
const SECOND_FACTOR_KINDS: readonly AuthenticationKind[] = ['totp', 'passkey', 'recovery']

/** @property organizationId organization that requires it; null for the person's own account. */
type RecencyCheck = { at: Date; hasFactor: boolean; organizationId: string | null }

/**
 * True if the person authenticated within {@link RECENT_AUTHENTICATION_MS}. Required for actions that an open or stolen session must not do. An
 * identity provider's authentication counts for its own organization only, from its `auth_time`.
 */
export function isRecentlyAuthenticatedFor(
  { proofs }: Pick<SessionState, 'proofs'>,
  { at: now, ...check }: RecencyCheck,
): boolean {
  const kinds = check.hasFactor ? SECOND_FACTOR_KINDS : PERSONAL_KINDS
  const isRecent = (at: Date | null | undefined) => at != null && now.getTime() - at.getTime() < RECENT_AUTHENTICATION_MS
  // An operator's provider replaces a password, but no second factor.
  const countsHere = ({ provider }: Authentication) =>
    provider != null && (provider.organizationId === null ? !check.hasFactor : provider.organizationId === check.organizationId)
  return proofs.some((proof) =>
    proof.kind === 'oidc' ? countsHere(proof) && isRecent(proof.authTime) : kinds.includes(proof.kind) && isRecent(proof.at),
  )
}

/** {@link isRecentlyAuthenticatedFor} for the signed-in person. */
export async function isRecentlyAuthenticated(
  service: ServiceContext,
  { session, credential }: SignedIn,
  organizationId: string | null,
): Promise<boolean> {
  const check = { at: service.deps.clock(), organizationId }
  // Skips the lookup of second factors if the session would not be recent enough without one.
  if (!isRecentlyAuthenticatedFor(session, { ...check, hasFactor: false })) return false
  return isRecentlyAuthenticatedFor(session, { ...check, hasFactor: await hasFactor(service, credential.id) })
}

/**
 * Checks the signed-in person's password again, and replaces the session's token. People with a second factor use that instead: otherwise a
 * session from one organization's provider would open other organizations by the password alone.
 *
 * @returns null for them, and when the session has ended, or the password was changed in this very moment.
 * @throws DomainError invalid: none, `wrong`, `tooMany`; too_many_passwords.
 */
export async function reauthenticate(
  service: ServiceContext,
  signedIn: SignedIn,
  { current, browser }: { current: string; browser: Browser },
): Promise<NewSession | null> {
  const { sessionId, credential } = signedIn
  if (await hasFactor(service, credential.id)) return null
  await confirmPassword(service, signedIn, { current, origin: browser })
  return inTransaction(service, async (inside) => {
    const session = await renewSession(inside, sessionId, { proof: 'password', credential, browser })
    const memberships = await findMemberships(inside, credential.id)
    if (session) await recordInAllOrganizations(inside, memberships, { action: 'signed_in', details: { proofs: ['password'] } })
    return session
  })
}
