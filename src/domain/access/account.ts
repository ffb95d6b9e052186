import { everyones } from '../../db/everyone.ts'
import { run } from '../../db/statements.ts'
import { isEmailAddress } from '../checking/email-address.ts'
import { findNameIssues } from '../checking/find-name-issues.ts'
import { refuse } from '../checking/refuse.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { claimLink, findOpenLink, isOpen, useUpResetLinks } from './account-links.ts'
import { findPasswordIssues, hashPassword, lineOf } from './passwords.ts'
import { endOtherSessions, findMemberships, type Origin, recordForAll, type SignedIn } from './sessions.ts'
import { checkPassword } from './sign-in.ts'
import { countReset, forgiveAddress } from './sign-in-attempts.ts'

/** Changes the name by which all organizations know whoever is signed in. @throws DomainError invalid. */
export async function changeName(
  service: ServiceContext,
  { memberships }: SignedIn,
  { firstName, lastName }: { firstName: string; lastName: string },
): Promise<void> {
  refuse(findNameIssues({ firstName, lastName }))
  await inTransaction(service, async (inside) => {
    const { db, deps } = inside
    const data = { firstName: firstName.trim(), lastName: lastName.trim(), updatedAt: deps.clock() }
    await db.user.updateMany({ where: { id: { in: memberships.map(({ userId }) => userId) } }, data })
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
  { current, origin }: { current: string; origin: Origin },
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
  { current, password, origin }: { current: string; password: string; origin: Origin },
): Promise<void> {
  const { credential, memberships } = signedIn
  const { email } = credential
  refuse(findPasswordIssues('password', password, email))
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
    await endOtherSessions(inside, signedIn)
    await recordForAll(inside, memberships, { action: 'changed_password' })
  })
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
  { email, origin }: { email: string; origin: Origin },
): Promise<void> {
  const mayAsk = await countReset(service, { email, origin })
  if (mayAsk && isEmailAddress(email)) await service.deps.queue.enqueuePasswordReset(service.db, email)
}

/** Whose password a link sets; null when it can't be used (any more). Changes nothing. */
export async function readResetOffer(service: ServiceContext, ref: AccountLinkRef): Promise<{ email: string } | null> {
  const link = await findOpenLink(service, ref)
  return link?.credential ? { email: link.credential.email } : null
}

/**
 * Sets a new password by a link. It ends all sessions, uses up every other such link, and what was tried before is forgiven.
 *
 * @returns whether the link could be used.
 * @throws DomainError invalid, for the password.
 */
export async function resetPassword(
  service: ServiceContext,
  ref: AccountLinkRef,
  { password, origin }: { password: string; origin: Origin },
): Promise<boolean> {
  const link = await findOpenLink(service, ref)
  if (!link?.credential) return false
  const { id: credentialId, email } = link.credential
  refuse(findPasswordIssues('password', password, email))
  const passwordHash = await hashPassword(password, lineOf(email, origin), () => isOpen(service, ref))
  if (passwordHash === null) return false
  return inTransaction(service, async (inside) => {
    // The credential first, as whoever changes the password: of two at once each would hold what the other waits for.
    await run(inside.db, everyones.selectFrom('credentials').select('id').where('id', '=', credentialId).forNoKeyUpdate())
    if (!(await claimLink(inside, ref))) return false
    const passwordChangedAt = inside.deps.clock()
    await inside.db.credential.update({ where: { id: credentialId }, data: { passwordHash, passwordChangedAt } })
    await inside.db.session.deleteMany({ where: { credentialId } })
    await useUpResetLinks(inside, credentialId)
    await forgiveAddress(inside, email)
    await recordForAll(inside, await findMemberships(inside, credentialId), { action: 'reset_password' })
    return true
  })
}
