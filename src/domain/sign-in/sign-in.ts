import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import { createAccountLink, type PendingJoin } from './account-links.ts'
import type { ProviderAuthentication } from './authentication-rows.ts'
import { findFamiliarity } from './devices.ts'
import { hasFactor } from './has-factor.ts'
import { notifyOnceADay } from './notify-once-a-day.ts'
import { isCommon, matchesPassword, passwordQueueKeyOf, runInPasswordQueue } from './passwords.ts'
import {
  type Browser,
  type Credential,
  findMemberships,
  lockUnchangedCredential,
  type NewSession,
  recordInAllOrganizations,
  startSession,
  toMemberContext,
} from './sessions.ts'
import { areStrangersRefused, countSignInAttempt, resetSignInCount } from './sign-in-attempts.ts'
import { daysToRemember, findTrustedSince } from './trusted-devices.ts'

/** Wrong passwords in a row, after which only a browser or a network that the person has used before, or a mailed link, lets them in. */
const MAX_FAILURES = 100

/**
 * Finds the account of an address. Lower-cases it as the count of attempts does: PostgreSQL also folds other letters (İ and i),
 * and each spelling would have a count of its own.
 */
export async function findCredential(
  { db }: ServiceContext,
  email: string,
): Promise<(Credential & { failures: number }) | undefined> {
  const credentials = unscoped(db)
    .selectFrom('credentials')
    .select(['id', 'email', 'passwordHash', 'authVersion', 'emailVerifiedAt', 'failures'])
  return credentials
    .where((eb) => eb(eb.fn<string>('address_key', ['email']), '=', toStoredAddress(email).toLowerCase()))
    .executeTakeFirst()
}

/**
 * Checks a password and counts the attempt. Wrong passwords and unknown addresses take as long as the right password. An attempt
 * that is refused in the queue is not counted.
 *
 * @throws DomainError invalid: `tooMany`, of the address or the network; too_many_passwords.
 */
export async function checkPassword(
  service: ServiceContext,
  { email: typedEmail, password, origin }: { email: string; password: string; origin: Browser },
): Promise<Credential | null> {
  const email = toStoredAddress(typedEmail) // all spellings count together
  const { credential, familiar, isRight } = await runInPasswordQueue(passwordQueueKeyOf(email, origin), async () => {
    const credential = await findCredential(service, email)
    const familiar = await findFamiliarity(service, credential, origin)
    await countSignInAttempt(service, { email, origin, ...familiar })
    return { credential, familiar, isRight: await matchesPassword(password, credential?.passwordHash) }
  })
  // After MAX_FAILURES an unknown browser may have guessed the password, so it is rejected as if it were wrong.
  const isStranger = familiar.deviceId === null && !familiar.isKnownNetwork
  const isRefusedAnyway = isStranger && (credential?.failures ?? 0) >= MAX_FAILURES
  if (!credential || !isRight || isRefusedAnyway) {
    if (isEmailAddress(email)) await service.deps.queue.enqueueFailedSignIn(service.db, email)
    return null
  }
  await resetSignInCount(service, { email, origin, deviceId: familiar.deviceId })
  if (credential.failures > 0) await service.db.credential.updateMany({ where: { id: credential.id }, data: { failures: 0 } })
  return credential
}

/** Records a wrong password in the organizations of the account. Notifies its owner if there were too many attempts from unknown browsers. */
export async function recordFailedSignIn(service: ServiceContext, email: string): Promise<void> {
  const credential = await findCredential(service, email)
  if (!credential) return
  const memberships = await findMemberships(service, credential.id)
  await inTransaction(service, async (inside) => {
    await inside.db.credential.updateMany({ where: { id: credential.id }, data: { failures: { increment: 1 } } })
    await recordInAllOrganizations(inside, memberships, { action: 'failed_sign_in' })
  })
  if (await areStrangersRefused(service, email)) await notifyOnceADay(service, credential.id, 'wrong_passwords')
}

/**
 * Result of a right password: a session; a second step, for people with a second factor in an unknown browser; or a page to set another
 * password, if this one is on the list of common passwords.
 *
 * @property mustChange URL of the page to set another password; in `waiting`, true if that page follows the second step.
 * @property word in `waiting`: authentication by an identity provider, which replaced the password.
 * @property join in `waiting`: the membership to create after the second step.
 */
export type SignInOutcome = { session: NewSession } | { waiting: PendingSecondFactor } | { mustChange: string }
export type PendingSecondFactor = Credential & { mustChange: boolean; word?: ProviderAuthentication; join?: PendingJoin }

/**
 * Signs a person in by address and password.
 *
 * @throws DomainError invalid: `wrong`, without saying which of the two; `tooMany`; too_many_passwords.
 */
export async function signIn(
  service: ServiceContext,
  { email, password, browser }: { email: string; password: string; browser: Browser },
): Promise<SignInOutcome> {
  const credential = await checkPassword(service, { email, password, origin: browser })
  const memberships = credential ? await findMemberships(service, credential.id) : []
  const [membership] = memberships
  if (!credential || !membership) throw createWrongPasswordError()
  return inTransaction(service, async (inside) => {
    const entry = await completeSignIn(inside, membership, { credential, password, browser })
    if (!entry) throw createWrongPasswordError()
    if ('session' in entry)
      await recordInAllOrganizations(inside, memberships, { action: 'signed_in', details: { proofs: ['password'] } })
    return entry
  })
}

type Member = Parameters<typeof toMemberContext>[1] & { id: string }

/** Completes a sign-in after the right password. @returns null if the password was changed in the meantime, or the account is gone. */
export async function completeSignIn(
  inside: ServiceContext,
  member: Member,
  { credential, password, browser }: { credential: Credential; password: string; browser: Browser },
): Promise<SignInOutcome | null> {
  if (!(await lockUnchangedCredential(inside, credential))) return null
  const mustChange = isCommon(password)
  // The password alone must not suffice to set another one.
  const remembered = (await hasFactor(inside, credential.id)) ? await findDeviceTrust(inside, credential, browser) : undefined
  if (remembered === null || (remembered && mustChange)) return { waiting: { ...credential, mustChange } }
  if (mustChange) return { mustChange: await createPasswordChangeLink(inside, member, credential.id) }
  const session = await startSession(inside, credential, browser, ['password'], remembered)
  return session && { session }
}

/** Time of the second factor that this trusted browser replaces; null if the browser is not trusted. */
export const findDeviceTrust = async (inside: ServiceContext, credential: Credential, browser: Browser): Promise<Date | null> =>
  findTrustedSince(inside, credential, browser, daysToRemember(await findMemberships(inside, credential.id)))

/** Creates a link to replace the password before signing in. */
export async function createPasswordChangeLink(inside: ServiceContext, member: Member, credentialId: string): Promise<string> {
  const resetLink = { kind: 'reset', memberId: member.id, credentialId } as const
  return inside.deps.links.accountUrl(await createAccountLink(toMemberContext(inside, member), resetLink))
}

const createWrongPasswordError = () => new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'wrong' }] })
