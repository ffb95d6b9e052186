import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { confirmPassword } from './account.ts'
import { hasFactor } from './has-factor.ts'
import type { OpeningSession, Proof, ProofKind } from './openings.ts'
import { renewSession } from './proofs.ts'
import { type Browser, findMemberships, type NewSession, recordForAll, type SignedIn } from './sessions.ts'

/** Milliseconds for which a proof is fresh. Nothing that is done meanwhile prolongs it. */
export const FRESH_MS = 15 * 60_000

/** By which one shows in person who one is; a browser that is remembered is nobody. */
const IN_PERSON: readonly ProofKind[] = ['password', 'totp', 'passkey', 'recovery']
/** Required of people with a second factor. A password alone may be stored in the browser or known to somebody else. */
const BY_FACTOR: readonly ProofKind[] = ['totp', 'passkey', 'recovery']

/** @property organizationId what it is asked for; null: what is the person's own. */
type Asked = { at: Date; hasFactor: boolean; organizationId: string | null }

/**
 * True if the person authenticated within {@link FRESH_MS}. Required for actions that an open or stolen session must not do. An
 * identity provider's authentication counts for its own organization only, from its `auth_time`.
 */
export function isFreshFor({ proofs }: Pick<OpeningSession, 'proofs'>, { at: now, ...asked }: Asked): boolean {
  const kinds = asked.hasFactor ? BY_FACTOR : IN_PERSON
  const isRecent = (at: Date | null | undefined) => at != null && now.getTime() - at.getTime() < FRESH_MS
  // The word of one of the operator's stands for a password.
  const speaksHere = ({ provider }: Proof) =>
    provider != null && (provider.organizationId === null ? !asked.hasFactor : provider.organizationId === asked.organizationId)
  return proofs.some((proof) =>
    proof.kind === 'oidc' ? speaksHere(proof) && isRecent(proof.authTime) : kinds.includes(proof.kind) && isRecent(proof.at),
  )
}

/** {@link isFreshFor} of whoever is signed in. */
export async function isFresh(
  service: ServiceContext,
  { session, credential }: SignedIn,
  organizationId: string | null,
): Promise<boolean> {
  const asked = { at: service.deps.clock(), organizationId }
  // Skips the lookup of second factors if the session would not be recent enough without one.
  if (!isFreshFor(session, { ...asked, hasFactor: false })) return false
  return isFreshFor(session, { ...asked, hasFactor: await hasFactor(service, credential.id) })
}

/**
 * Has whoever is signed in show their password once more. The session gets another token. Whoever has a second factor shows that instead: a
 * session that rests on the word of one organization's provider would open others by the password alone.
 *
 * @returns null for them, and when the session has ended, or the password was changed in this very moment.
 * @throws DomainError invalid: none, `wrong`, `tooMany`; too_many_passwords.
 */
export async function provePassword(
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
    if (session) await recordForAll(inside, memberships, { action: 'signed_in', details: { proofs: ['password'] } })
    return session
  })
}
