import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import { findNameIssues } from '../validation/find-name-issues.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { claimLink, expireResetLinks, findOpenLink, isLinkUsable } from './account-links.ts'
import { raiseAuthVersion } from './auth-version.ts'
import { lockCredential, requireOwnCredential } from './credential-lock.ts'
import { rememberDevice } from './devices.ts'
import { endOtherSessions, endSessions } from './end-sessions.ts'
import { hasFactor } from './has-factor.ts'
import { notifyPerson } from './notify-person.ts'
import { checkNewPassword, hashPassword, passwordQueueKeyOf } from './passwords.ts'
import { proveAddress } from './prove-address.ts'
import { renameUser } from './rename-user.ts'
import {
  type Browser,
  findMemberships,
  type Membership,
  type NetworkOrigin,
  recordInAllOrganizations,
  type SignedIn,
} from './sessions.ts'
import { checkPassword } from './sign-in.ts'
import { countResetRequest, resetAddressCount } from './sign-in-attempts.ts'

/** Changes the person's name in all organizations. @throws DomainError invalid. */
export async function changeName(
  service: ServiceContext,
  { memberships }: SignedIn,
  { firstName, lastName }: { firstName: string; lastName: string },
): Promise<void> {
  throwIfIssues(findNameIssues({ firstName, lastName }))
  await inTransaction(service, async (inside) => {
    const names = { firstName: firstName.trim(), lastName: lastName.trim() }
    for (const { userId } of memberships) await renameUser(inside, userId, names)
    await recordInAllOrganizations(inside, memberships, { action: 'changed_name' })
  })
}

/**
 * Checks the signed-in person's password, before an action for which a session alone is not enough.
 *
 * @throws DomainError invalid: none, `wrong`, `tooMany`; too_many_passwords.
 */
export async function confirmPassword(
  service: ServiceContext,
  { credential }: SignedIn,
  { current, origin }: { current: string; origin: Browser },
): Promise<void> {
  throwIfIssues(current === '' ? [{ field: 'current', rule: 'required' }] : [])
  if (!(await checkPassword(service, { email: credential.email, password: current, origin }))) throw createWrongPasswordError()
}

/**
 * Changes the person's password, ends their other sessions, and invalidates all reset links.
 *
 * @throws DomainError invalid: `wrong` current password, `tooMany`, issues of the new one; `signedOut`.
 */
export async function changePassword(
  service: ServiceContext,
  signedIn: SignedIn,
  { current, password, origin }: { current: string; password: string; origin: Browser },
): Promise<void> {
  const { credential, memberships } = signedIn
  const { email } = credential
  const hasSecondFactor = await hasFactor(service, credential.id)
  throwIfIssues(
    await checkNewPassword(service, 'password', password, {
      email,
      words: memberships.flatMap(guessableWordsOf),
      hasSecondFactor,
    }),
  )
  await confirmPassword(service, signedIn, { current, origin })
  // The condition on the hash makes the second of two concurrent changes fail: its current password is outdated.
  const where = { id: credential.id, passwordHash: credential.passwordHash }
  const isCurrent = async () => (await service.db.credential.count({ where })) > 0
  const passwordHash = await hashPassword(service, password, passwordQueueKeyOf(email, origin), isCurrent)
  if (passwordHash === null) throw createWrongPasswordError()
  await inTransaction(service, async (inside) => {
    await requireOwnCredential(inside, signedIn)
    const data = { passwordHash, passwordChangedAt: inside.deps.clock() }
    const { count } = await inside.db.credential.updateMany({ where, data })
    if (count === 0) throw createWrongPasswordError()
    await expireResetLinks(inside, credential.id)
    await endOtherSessions(inside, signedIn, 'password_changed')
    await raiseAuthVersion(inside, credential.id, signedIn.sessionId)
    await recordInAllOrganizations(inside, memberships, { action: 'changed_password' })
    await notifyPerson(inside, memberships, 'password_changed')
  })
}

const createWrongPasswordError = () =>
  new DomainError('invalid', { issues: [{ field: 'current', rule: 'account', problem: 'wrong' }] })

/**
 * Requests a password reset email. A job looks up the account, so that the response doesn't reveal whether it exists. A few emails per
 * quarter of an hour.
 *
 * @throws DomainError invalid: `tooMany` requests from the network.
 */
export async function requestPasswordReset(
  service: ServiceContext,
  { email: typedEmail, origin }: { email: string; origin: NetworkOrigin },
): Promise<void> {
  const email = toStoredAddress(typedEmail)
  const mayAsk = await countResetRequest(service, { email, origin })
  if (mayAsk && isEmailAddress(email)) await service.deps.queue.enqueuePasswordReset(service.db, email)
}

/** Words that a guesser would try first. */
const guessableWordsOf = ({ user, organization }: Pick<Membership, 'user' | 'organization'>): string[] => [
  user.firstName,
  user.lastName,
  organization.name,
]

/** A browser that is known from now on. @property device value of its cookie. */
export type AdmittedBrowser = { device: string }

/** @property mayKeepPassword whether the link also admits a browser, see {@link admitBrowser}. */
export type ResetOffer = { email: string; mayKeepPassword: boolean }

/** The account of a reset link; null if the link is used or expired. Changes nothing. */
export async function readResetOffer(service: ServiceContext, ref: AccountLinkRef): Promise<ResetOffer | null> {
  const link = await findOpenLink(service, ref)
  return link?.credential ? { email: link.credential.email, mayKeepPassword: mayKeepPassword(ref, link.credential) } : null
}

/**
 * Sets a new password by a link. It ends all sessions, uses up every other such link, and forgives earlier attempts. A link that proves the address
 * removes what an account was set up with before, see {@link proveAddress}.
 *
 * @returns the browser's cookie; null when the link can't be used (any more).
 * @throws DomainError invalid, for the password.
 */
export async function resetPassword(
  service: ServiceContext,
  ref: AccountLinkRef,
  { password, origin }: { password: string; origin: Browser },
): Promise<AdmittedBrowser | null> {
  const link = await findOpenLink(service, ref)
  if (!link?.credential) return null
  const { id: credentialId, email } = link.credential
  const memberships = await findMemberships(service, credentialId)
  // The proof removes every factor that was set up before.
  const hasSecondFactor = link.credential.emailVerifiedAt !== null && (await hasFactor(service, credentialId))
  throwIfIssues(
    await checkNewPassword(service, 'password', password, {
      email,
      words: memberships.flatMap(guessableWordsOf),
      hasSecondFactor,
    }),
  )
  const passwordHash = await hashPassword(service, password, passwordQueueKeyOf(email, origin), () => isLinkUsable(service, ref))
  if (passwordHash === null) return null
  return inTransaction(service, async (inside) => {
    await lockCredential(inside, credentialId)
    if (!(await claimLink(inside, ref))) return null
    if (ref.provesAddress) await proveAddress(inside, credentialId)
    const data = { passwordHash, passwordChangedAt: inside.deps.clock(), failures: 0 }
    await inside.db.credential.update({ where: { id: credentialId }, data })
    await endSessions(inside, { credentialId }, 'password_reset')
    const authVersion = await raiseAuthVersion(inside, credentialId)
    await expireResetLinks(inside, credentialId)
    await resetAddressCount(inside, { email, origin })
    await recordInAllOrganizations(inside, memberships, { action: 'reset_password' })
    await notifyPerson(inside, memberships, 'password_reset')
    return { device: (await rememberDevice(inside, { id: credentialId, authVersion }, origin)).token }
  })
}

/** The password of an account with an unproven address may be a stranger's: a reset link replaces it. */
const mayKeepPassword = (ref: AccountLinkRef, credential: { emailVerifiedAt: Date | null }): boolean =>
  ref.provesAddress === true && credential.emailVerifiedAt !== null

/**
 * Makes the browser in which a mailed link was opened a known one, without another password: where strangers have tried too many, the person signs in
 * there with the one they have. The link is used up.
 *
 * @returns the browser's cookie; null when the link can't be used (any more), or does not allow it.
 */
export async function admitBrowser(
  service: ServiceContext,
  ref: AccountLinkRef,
  origin: Browser,
): Promise<AdmittedBrowser | null> {
  const link = await findOpenLink(service, ref)
  if (!link?.credential || !mayKeepPassword(ref, link.credential)) return null
  const { id, email } = link.credential
  return inTransaction(service, async (inside) => {
    await lockCredential(inside, id)
    if (!(await claimLink(inside, ref))) return null
    const { authVersion } = await inside.db.credential.update({
      where: { id },
      data: { failures: 0 },
      select: { authVersion: true },
    })
    await resetAddressCount(inside, { email, origin })
    await recordInAllOrganizations(inside, await findMemberships(inside, id), { action: 'admitted_browser' })
    return { device: (await rememberDevice(inside, { id, authVersion }, origin)).token }
  })
}
