import type { ServiceContext } from '../context.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { inTransaction } from '../transaction.ts'
import type { PendingJoin } from './account-links.ts'
import { renewSession } from './add-authentication.ts'
import { authenticationKindOf, type NewAuthentication, type ProviderAuthentication } from './authentication-rows.ts'
import { completeJoin, lockMember } from './complete-join.ts'
import { lockCredential } from './credential-lock.ts'
import { findFamiliarity } from './devices.ts'
import { listFactors, passkeysOf } from './factors.ts'
import { notifyOwnersOfBreakGlass } from './notify-break-glass.ts'
import { notifyOnceADay } from './notify-once-a-day.ts'
import { notifyPerson } from './notify-person.ts'
import { type PasskeyOptions, relyingParty, requestOptions } from './passkeys.ts'
import { hashToken } from './session-tokens.ts'
import {
  type Browser,
  type Credential,
  findMemberships,
  lockUnchangedCredential,
  type NewSession,
  recordInAllOrganizations,
  type SignedIn,
  startSession,
} from './sessions.ts'
import { createPasswordChangeLink, type PendingSecondFactor, type SignInOutcome } from './sign-in.ts'
import { type CodeSource, countCodeAttempt, resetCodeCount } from './sign-in-attempts.ts'
import { daysToRemember, trustDevice } from './trusted-devices.ts'
import { createPasskeyError, useCode, usePasskey, verifyPasskeyResponse } from './verify-factor.ts'

/** Milliseconds within which the second factor must follow the password. */
export const SECOND_STEP_MS = 10 * 60_000
const PURPOSE = 'second step'

/**
 * A person who authenticated once and has to give a second factor.
 *
 * @property authVersion at that time: a later change of the account's authentication makes them begin again.
 * @property mustChange true if the password is a common one and has to be replaced.
 * @property word authentication by an identity provider. @property join membership to activate afterwards.
 * @property sessionId session of somebody who is signed in and lacks what an organization requires.
 */
export type SecondStepState = {
  credentialId: string
  authVersion: number
  mustChange?: boolean
  word?: ProviderAuthentication
  join?: PendingJoin
  sessionId?: string
}

/** Encrypts the state for a cookie. It is stored nowhere else. */
export function encryptSecondStep(
  { deps }: ServiceContext,
  { id, authVersion, mustChange, word, join }: PendingSecondFactor,
): string {
  const endsAt = deps.clock().getTime() + SECOND_STEP_MS
  const text = JSON.stringify({ credentialId: id, authVersion, mustChange, word, join, endsAt })
  return Buffer.from(encrypt(deps.secretKeys, PURPOSE, text)).toString('base64url')
}

/** @returns null for an invalid or expired cookie. */
export function decryptSecondStep({ deps }: ServiceContext, sealed: string): SecondStepState | null {
  const text = decrypt(deps.secretKeys, PURPOSE, Buffer.from(sealed, 'base64url'))
  if (text === null) return null
  const { endsAt, word, ...waiting } = JSON.parse(text) as SecondStepState & { endsAt: number }
  if (endsAt <= deps.clock().getTime()) return null
  return word ? { ...waiting, word: { ...word, authTime: word.authTime && new Date(word.authTime) } } : waiting
}

/** State for a signed-in person who needs a second factor that was added or required after the sign-in. */
export const toSecondStepState = ({ sessionId, credential: { id, authVersion } }: SignedIn): SecondStepState => ({
  credentialId: id,
  authVersion,
  sessionId,
})

/** Outcome of the second step. */
export type SecondStepOutcome = Exclude<SignInOutcome, { waiting: unknown }>

/** Ways to show a second factor that somebody has. */
export type SecondStepOptions = {
  email: string
  hasApp: boolean
  passkey: PasskeyOptions | null
  /** For how many days the browser can be remembered; 0: not. */
  days: number
}

/** Second step to show; null if the person has to begin again or has no factor. */
export async function readSecondStep(service: ServiceContext, waiting: SecondStepState): Promise<SecondStepOptions | null> {
  const credential = await findPendingCredential(service, waiting)
  const factors = credential ? await listFactors(service, credential.id) : []
  if (!credential || factors.length === 0) return null
  const rp = relyingParty(service)
  const passkeys = passkeysOf(factors, rp)
  const passkey = rp && passkeys.length > 0 ? requestOptions(service, rp, { credentialId: credential.id, passkeys }) : null
  const days = daysToRemember(await findMemberships(service, credential.id))
  return { email: credential.email, hasApp: factors.some(({ kind }) => kind === 'totp'), passkey, days }
}

/**
 * Completes a sign-in by a code: of an app, or a recovery code.
 *
 * @param remembers true to trust the browser from now on. @returns null if the sign-in expired. @throws DomainError invalid: `wrong`,
 *   `codeUsed`, `tooMany`.
 */
export async function signInByCode(
  service: ServiceContext,
  waiting: SecondStepState,
  { code, browser, remembers = false }: { code: string; browser: Browser; remembers?: boolean },
): Promise<SecondStepOutcome | null> {
  const credential = await findPendingCredential(service, waiting)
  if (!credential) return null
  const coder = { credentialId: credential.id, deviceId: (await findFamiliarity(service, credential, browser)).deviceId }
  await countCodeOrNotify(service, coder)
  const step = await inTransaction(service, async (inside) => {
    if (!(await lockPendingCredential(inside, credential, waiting))) return null
    const kind = await useCode(inside, credential.id, code)
    if (kind === 'recovery') await notifyPerson(inside, await findMemberships(inside, credential.id), 'recovery_code_used')
    return continueSignIn(inside, credential, waiting, { browser, kind, remembers })
  })
  await resetCodeCount(service, coder)
  return step
}

/** Counts a code attempt. After too many the account's owner is notified, because somebody knows the password. */
async function countCodeOrNotify(service: ServiceContext, coder: CodeSource): Promise<void> {
  try {
    await countCodeAttempt(service, coder)
  } catch (error) {
    await notifyOnceADay(service, coder.credentialId, 'wrong_codes')
    throw error
  }
}

/** Completes a sign-in by a passkey. @returns null if the sign-in expired. @throws DomainError invalid: `passkey`. */
export async function signInByOwnPasskey(
  service: ServiceContext,
  waiting: SecondStepState,
  { answer, browser }: { answer: string; browser: Browser },
): Promise<SecondStepOutcome | null> {
  const credential = await findPendingCredential(service, waiting)
  if (!credential) return null
  const shown = await verifyPasskeyResponse(service, answer, credential.id)
  return inTransaction(service, async (inside) => {
    if (!(await lockPendingCredential(inside, credential, waiting))) return null
    await usePasskey(inside, shown)
    return continueSignIn(inside, credential, waiting, { browser, kind: 'passkey' })
  })
}

/** Options for signing in with a passkey alone; null if browsers accept none for the service's address. */
export function offerPasskeySignIn(service: ServiceContext): PasskeyOptions | null {
  const rp = relyingParty(service)
  return rp && requestOptions(service, rp)
}

/** Signs in by a passkey alone: it has verified its user, so that it is two factors. @throws DomainError invalid: `passkey`. */
export async function signInByPasskey(
  service: ServiceContext,
  { answer, browser }: { answer: string; browser: Browser },
): Promise<NewSession> {
  const shown = await verifyPasskeyResponse(service, answer)
  return inTransaction(service, async (inside) => {
    const { credentialId } = shown.passkey
    const lockedCredential = await lockCredential(inside, credentialId)
    const credential = lockedCredential && (await inside.db.credential.findUnique({ where: { id: credentialId } }))
    await usePasskey(inside, shown)
    const session = credential ? await startRecordedSession(inside, credential, browser, ['passkey']) : null
    if (!session) throw createPasskeyError()
    return session
  })
}

async function findPendingCredential(
  { db }: ServiceContext,
  { credentialId: id, authVersion }: SecondStepState,
): Promise<Credential | null> {
  return db.credential.findUnique({ where: { id, authVersion } })
}

/** @returns false if the credential was changed meanwhile. */
async function lockPendingCredential(
  inside: ServiceContext,
  credential: Credential,
  { join }: SecondStepState,
): Promise<boolean> {
  if (join) await lockMember(inside, join)
  return lockUnchangedCredential(inside, credential)
}

/** Goes on in the session that is waiting, or starts one. @returns null as {@link startRecordedSession} does, and if the link to join can't be used any more. */
async function continueSignIn(
  inside: ServiceContext,
  credential: Credential,
  { sessionId, mustChange = false, word, join }: SecondStepState,
  { browser, kind, remembers = false }: { browser: Browser; kind: 'totp' | 'recovery' | 'passkey'; remembers?: boolean },
): Promise<SecondStepOutcome | null> {
  const memberships = await findMemberships(inside, credential.id)
  const [membership] = memberships
  if (mustChange && membership) return { mustChange: await createPasswordChangeLink(inside, membership, credential.id) }
  if (join && !(await completeJoin(inside, credential.id, join))) return null
  const session =
    sessionId === undefined
      ? await startRecordedSession(inside, credential, browser, [word ?? 'password', kind])
      : await renewSession(inside, sessionId, { proof: kind, credential, browser })
  if (!session) return null
  if (sessionId !== undefined)
    await recordInAllOrganizations(inside, memberships, { action: 'signed_in', details: { proofs: [kind] } })
  if (remembers && daysToRemember(memberships) > 0) await trustDevice(inside, credential.id, session.device)
  return { session }
}

/** Null if the person has no access to any organization, or the credential was changed meanwhile. */
async function startRecordedSession(
  inside: ServiceContext,
  credential: Credential,
  browser: Browser,
  proofs: NewAuthentication[],
): Promise<NewSession | null> {
  const memberships = await findMemberships(inside, credential.id)
  const session = memberships.length > 0 ? await startSession(inside, credential, browser, proofs) : null
  if (!session) return null
  await recordInAllOrganizations(inside, memberships, {
    action: 'signed_in',
    details: { proofs: proofs.map(authenticationKindOf) },
  })
  await notifyOwnersOfBreakGlass(inside, { tokenHash: hashToken(session.token) }, memberships)
  return session
}
