import { everyones } from '../../db/everyone.ts'
import { run } from '../../db/statements.ts'
import { asStored, isEmailAddress } from '../checking/email-address.ts'
import { findNameIssues } from '../checking/find-name-issues.ts'
import { refuse } from '../checking/refuse.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { claimLink, findOpenLink, isOpen, useUpResetLinks } from './account-links.ts'
import { rememberDevice } from './devices.ts'
import { endOtherSessions, endSessions } from './end-sessions.ts'
import { hasFactor } from './has-factor.ts'
import { hashPassword, judgePassword, lineOf } from './passwords.ts'
import { renameUser } from './rename-user.ts'
import { type Browser, findMemberships, type Membership, type Origin, recordForAll, type SignedIn } from './sessions.ts'
import { checkPassword } from './sign-in.ts'
import { countReset, forgiveAddress } from './sign-in-attempts.ts'
import { tellPerson } from './tell-person.ts'

/** Changes the name by which all organizations know whoever is signed in. @throws DomainError invalid. */
export async function changeName(
  service: ServiceContext,
  { memberships }: SignedIn,
  { firstName, lastName }: { firstName: string; lastName: string },
): Promise<void> {
  refuse(findNameIssues({ firstName, lastName }))
  await inTransaction(service, async (inside) => {
    const names = { firstName: firstName.trim(), lastName: lastName.trim() }
    for (const { userId } of memberships) await renameUser(inside, userId, names)
    await recordForAll(inside, memberships, { action: 'changed_name' })
  })
}

/**
 * Has whoever is signed in show that they know their password, before what a session alone is not enough for.
 *
 * @throws DomainError invalid: none, `wrong`, `tooMany`; too_many_passwords.
 */
export async function confirmPassword(
  service: ServiceContext,
  { credential }: SignedIn,
  { current, origin }: { current: string; origin: Browser },
): Promise<void> {
  refuse(current === '' ? [{ field: 'current', rule: 'required' }] : [])
  if (!(await checkPassword(service, { email: credential.email, password: current, origin }))) throw wrongPassword()
}

/**
 * Changes the password of whoever is signed in, ends their other sessions, and uses up every link to set it anew.
 *
 * @throws DomainError invalid: `wrong` for the current one, `tooMany`, and what is wrong with the new one.
 */
export async function changePassword(
  service: ServiceContext,
  signedIn: SignedIn,
  { current, password, origin }: { current: string; password: string; origin: Browser },
): Promise<void> {
  const { credential, memberships } = signedIn
  const { email } = credential
  const hasSecondFactor = await hasFactor(service, credential.id)
  refuse(await judgePassword(service, 'password', password, { email, words: memberships.flatMap(wordsOf), hasSecondFactor }))
  await confirmPassword(service, signedIn, { current, origin })
  // Of two who change it at once, the second one's current password is not current any more.
  const where = { id: credential.id, passwordHash: credential.passwordHash }
  const isCurrent = async () => (await service.db.credential.count({ where })) > 0
  const passwordHash = await hashPassword(password, lineOf(email, origin), isCurrent)
  if (passwordHash === null) throw wrongPassword()
  await inTransaction(service, async (inside) => {
    const data = { passwordHash, passwordChangedAt: inside.deps.clock() }
    const { count } = await inside.db.credential.updateMany({ where, data })
    if (count === 0) throw wrongPassword()
    await useUpResetLinks(inside, credential.id)
    await endOtherSessions(inside, signedIn, 'password_changed')
    await raiseAuthVersion(inside, credential.id, signedIn.sessionId)
    await recordForAll(inside, memberships, { action: 'changed_password' })
    await tellPerson(inside, memberships, 'password_changed')
  })
}

/**
 * What a person signs in with has changed: sessions and devices of before are over, and no browser stands for a second factor any more.
 *
 * @param sessionId in which it was changed, and which goes on.
 */
export async function raiseAuthVersion({ db }: ServiceContext, credentialId: string, sessionId?: string): Promise<number> {
  const data = { authVersion: { increment: 1 } }
  const { authVersion } = await db.credential.update({ where: { id: credentialId }, data, select: { authVersion: true } })
  await db.device.updateMany({ where: { credentialId, trustedUntil: { not: null } }, data: { trustedUntil: null } })
  if (!sessionId) return authVersion
  await db.session.updateMany({ where: { id: sessionId }, data: { authVersion } })
  const session = await db.session.findUnique({ where: { id: sessionId }, select: { deviceId: true } })
  const deviceId = session?.deviceId
  if (deviceId) await db.device.updateMany({ where: { id: deviceId, credentialId }, data: { authVersion } })
  return authVersion
}

const wrongPassword = () => new DomainError('invalid', { issues: [{ field: 'current', rule: 'account', problem: 'wrong' }] })

/**
 * Asks for a link to set a new password by, which is mailed if anybody signs in with the address. Nobody is told whether: the look-up
 * is a job's. More than a few mails within a quarter of an hour nobody needs.
 *
 * @throws DomainError invalid: `tooMany`, of the network.
 */
export async function requestPasswordReset(
  service: ServiceContext,
  { email: given, origin }: { email: string; origin: Origin },
): Promise<void> {
  const email = asStored(given)
  const mayAsk = await countReset(service, { email, origin })
  if (mayAsk && isEmailAddress(email)) await service.deps.queue.enqueuePasswordReset(service.db, email)
}

/** What somebody's password is guessed by. */
const wordsOf = ({ user, organization }: Pick<Membership, 'user' | 'organization'>): string[] => [
  user.firstName,
  user.lastName,
  organization.name,
]

/** A browser that is known from now on, by this value of its cookie. */
export type Admitted = { device: string }

/** Whose password a link sets; null when it can't be used (any more). Changes nothing. */
export async function readResetOffer(service: ServiceContext, ref: AccountLinkRef): Promise<{ email: string } | null> {
  const link = await findOpenLink(service, ref)
  return link?.credential ? { email: link.credential.email } : null
}

/**
 * Sets a new password by a link. It ends all sessions, uses up every other such link, and what was tried before is forgiven. Accounts at one of the
 * operator's providers that were linked before anybody had shown that the address is theirs may be a stranger's, and are unlinked.
 *
 * @returns the browser's cookie; null when the link can't be used (any more).
 * @throws DomainError invalid, for the password.
 */
export async function resetPassword(
  service: ServiceContext,
  ref: AccountLinkRef,
  { password, origin }: { password: string; origin: Browser },
): Promise<Admitted | null> {
  const link = await findOpenLink(service, ref)
  if (!link?.credential) return null
  const { id: credentialId, email } = link.credential
  const memberships = await findMemberships(service, credentialId)
  const hasSecondFactor = await hasFactor(service, credentialId)
  refuse(await judgePassword(service, 'password', password, { email, words: memberships.flatMap(wordsOf), hasSecondFactor }))
  const passwordHash = await hashPassword(password, lineOf(email, origin), () => isOpen(service, ref))
  if (passwordHash === null) return null
  return inTransaction(service, async (inside) => {
    await hold(inside, credentialId)
    if (!(await claimLink(inside, ref))) return null
    const passwordChangedAt = inside.deps.clock()
    const isFirstProof = ref.isMailed && link.credential?.provenAt === null
    const strangers = { credentialId, organizationId: null }
    const unlinked = isFirstProof ? await inside.db.identity.deleteMany({ where: strangers }) : { count: 0 }
    const proven = { failures: 0, ...(ref.isMailed && { provenAt: passwordChangedAt }) }
    await inside.db.credential.update({ where: { id: credentialId }, data: { passwordHash, passwordChangedAt, ...proven } })
    await endSessions(inside, { credentialId }, 'password_reset')
    const authVersion = await raiseAuthVersion(inside, credentialId)
    await useUpResetLinks(inside, credentialId)
    await forgiveAddress(inside, { email, origin })
    await recordForAll(inside, memberships, { action: 'reset_password' })
    if (unlinked.count > 0) await recordForAll(inside, memberships, { action: 'unlinked_identity' })
    await tellPerson(inside, memberships, 'password_reset')
    return { device: (await rememberDevice(inside, { id: credentialId, authVersion }, origin)).token }
  })
}

/** The credential first, as whoever changes the password, or erases it: of two at once each would hold what the other waits for. */
const hold = ({ db }: ServiceContext, credentialId: string) =>
  run(db, everyones.selectFrom('credentials').select('id').where('id', '=', credentialId).forNoKeyUpdate())

/**
 * Makes the browser in which a mailed link was opened one that is known, without another password: where strangers have tried too many,
 * the person signs in there with the one they have. The link is used up. Whose address it is it shows, but not who has set that password.
 *
 * @returns the browser's cookie; null when the link can't be used (any more), or was not mailed.
 */
export async function admitBrowser(service: ServiceContext, ref: AccountLinkRef, origin: Browser): Promise<Admitted | null> {
  const link = ref.isMailed ? await findOpenLink(service, ref) : null
  if (!link?.credential) return null
  const { id, email } = link.credential
  return inTransaction(service, async (inside) => {
    await hold(inside, id)
    if (!(await claimLink(inside, ref))) return null
    const { authVersion } = await inside.db.credential.update({
      where: { id },
      data: { failures: 0 },
      select: { authVersion: true },
    })
    await forgiveAddress(inside, { email, origin })
    await recordForAll(inside, await findMemberships(inside, id), { action: 'admitted_browser' })
    return { device: (await rememberDevice(inside, { id, authVersion }, origin)).token }
  })
}
