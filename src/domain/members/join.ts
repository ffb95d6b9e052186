import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { type AccountLink, findOpenLink, isLinkUsable } from '../sign-in/account-links.ts'
import { completeJoin, lockMember } from '../sign-in/complete-join.ts'
import { lockCredential } from '../sign-in/credential-lock.ts'
import { isSsoEnforced } from '../sign-in/domain-owners.ts'
import { checkNewPassword, hashPassword, passwordQueueKeyOf } from '../sign-in/passwords.ts'
import { proveAddress } from '../sign-in/prove-address.ts'
import type { Browser, Credential } from '../sign-in/sessions.ts'
import { checkPassword, completeSignIn, findCredential, type SignInOutcome } from '../sign-in/sign-in.ts'
import { inTransaction } from '../transaction.ts'
import { findNameIssues } from '../validation/find-name-issues.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Offer of a link to join. */
export type JoinOffer = {
  organizationId: string
  organization: string
  email: string
  firstName: string
  lastName: string
  /** True if the page asks for the password of an account, false if for a new one; null for a copied link, whose page doesn't say which. */
  hasPassword: boolean | null
  /** True if the person has to sign in by the organization's identity provider. */
  isBySsoOnly: boolean
}

export type JoinInput = { firstName: string; lastName: string; password: string; browser: Browser }

/** Reads the offer; null if the link is used or expired. Changes nothing. */
export async function readJoinOffer(service: ServiceContext, ref: AccountLinkRef): Promise<JoinOffer | null> {
  const link = await findOpenLink(service, ref)
  if (!link) return null
  const { user, organization, email } = link.member
  const hasPassword = ref.provesAddress ? (await findKnown(service, ref, email)) !== undefined : null
  return {
    organizationId: organization.id,
    organization: organization.name,
    email,
    firstName: user.firstName,
    lastName: user.lastName,
    hasPassword,
    isBySsoOnly: await isBySsoOnly(service, link),
  }
}

/** True if the invited person has to sign in by the organization's identity provider. */
export const isBySsoOnly = async (
  { db }: ServiceContext,
  { member: { organization, signInException } }: AccountLink,
): Promise<boolean> => signInException === null && (await isSsoEnforced({ db, organization }))

/**
 * Joins the portal by a link, and signs in. An existing account must enter its password and second factor first; until then the link stays
 * valid. If the link proves the address, an unproven account's password, which may be a stranger's, is replaced instead.
 *
 * @returns null if the link is invalid or used. @throws DomainError invalid for names and password: `exists` if the person just joined by
 *   another link; `needsSso`.
 */
export async function join(
  service: ServiceContext,
  ref: AccountLinkRef,
  input: JoinInput,
): Promise<(SignInOutcome & { organizationId: string }) | null> {
  const link = await findOpenLink(service, ref)
  if (!link) return null
  if (await isBySsoOnly(service, link)) throwIfIssues([{ field: '', rule: 'account', problem: 'needsSso' }])
  const { firstName, lastName, password, browser } = input
  const { email } = link.member
  const knownMember = await findKnown(service, ref, email)
  throwIfIssues(findNameIssues({ firstName, lastName }))
  const words = [firstName, lastName, link.member.organization.name]
  const issues = await checkNewPassword(service, 'password', password, { email, words })
  // Replies are the same whether or not the address has an account: an invalid new password is tried as the current one.
  const isTried = knownMember !== undefined || (!ref.provesAddress && issues.length > 0)
  if (isTried && !(await checkPassword(service, { email, password, origin: browser })))
    throwIfIssues(ref.provesAddress || issues.length === 0 ? [{ field: 'password', rule: 'account', problem: 'wrong' }] : issues)
  throwIfIssues(knownMember ? [] : issues)
  const passwordHash =
    knownMember?.passwordHash ??
    (await hashPassword(service, password, passwordQueueKeyOf(email, browser), () => isLinkUsable(service, ref)))
  if (passwordHash === null) return null
  const names = { firstName: firstName.trim(), lastName: lastName.trim() }
  return inTransaction(service, async (inside) => {
    await lockMember(inside, link)
    if (!(await isLinkUsable(inside, ref))) return null
    const credential = knownMember ?? (await createOrTakeOver(inside, ref, { email, passwordHash }))
    if (!credential) throw new DomainError('invalid', { issues: [{ field: 'password', rule: 'account', problem: 'exists' }] })
    const entry = await completeSignIn(inside, link.member, { credential, password, browser })
    if (!entry) throw new DomainError('invalid', { issues: [{ field: 'password', rule: 'account', problem: 'wrong' }] })
    const { organizationId, memberId } = link
    const pending = { linkId: link.id, organizationId, memberId, ...names }
    if ('waiting' in entry) return { waiting: { ...entry.waiting, join: pending }, organizationId }
    if ('session' in entry) await completeJoin(inside, credential.id, pending)
    return { ...entry, organizationId }
  })
}

/** Account that must enter its password; undefined if the link sets a password. */
async function findKnown(
  service: ServiceContext,
  { provesAddress }: AccountLinkRef,
  email: string,
): Promise<Credential | undefined> {
  const found = await findCredential(service, email)
  return provesAddress && found?.emailVerifiedAt === null ? undefined : found
}

/** @returns null if somebody created or proved an account of the address meanwhile. */
async function createOrTakeOver(
  inside: ServiceContext,
  { provesAddress = false }: AccountLinkRef,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<Credential | null> {
  const isProven = provesAddress
  const created = await createCredential(inside, { email, passwordHash, isProven })
  if (created || !provesAddress) return created
  const found = await findCredential(inside, email)
  const locked = found && (await lockCredential(inside, found.id))
  if (!locked || locked.emailVerifiedAt) return null
  await proveAddress(inside, locked.id)
  const data = { passwordHash, passwordChangedAt: inside.deps.clock() }
  return inside.db.credential.update({ where: { id: locked.id }, data })
}

/** @returns null when there is an account with the address. */
export async function createCredential(
  { db, deps }: ServiceContext,
  { email, passwordHash, isProven }: { email: string; passwordHash: string; isProven: boolean },
): Promise<Credential | null> {
  const now = deps.clock()
  const row = {
    id: deps.newId(),
    email,
    passwordHash,
    passwordChangedAt: now,
    createdAt: now,
    emailVerifiedAt: isProven ? now : null,
  }
  const [created] = await db.credential.createManyAndReturn({ data: [row], skipDuplicates: true })
  return created ?? null
}
