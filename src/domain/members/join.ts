import { own } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import { type AccountLink, claimLink, findOpenLink, isOpen } from '../access/account-links.ts'
import { hashPassword, judgePassword, lineOf } from '../access/passwords.ts'
import { renameUser } from '../access/rename-user.ts'
import { asMember, type Browser, type Credential } from '../access/sessions.ts'
import { checkPassword, type Entry, enter, findCredential } from '../access/sign-in.ts'
import { isSsoEnforced } from '../access/speakers.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { findNameIssues } from '../checking/find-name-issues.ts'
import { refuse } from '../checking/refuse.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { inTransaction } from '../transaction.ts'

/** What somebody who opens a link to join is shown. */
export type JoinOffer = {
  organizationId: string
  organization: string
  email: string
  firstName: string
  lastName: string
  /** Whether the address has a password already, which then is asked for instead of a new one; null: who has copied the link is not told. */
  hasPassword: boolean | null
  /** Whether nothing but the organization's identity provider would let them in. */
  isBySsoOnly: boolean
}

export type JoinInput = { firstName: string; lastName: string; password: string; browser: Browser }

/** What a link offers; null when it can't be used (any more). Changes nothing. */
export async function readJoinOffer(service: ServiceContext, ref: AccountLinkRef): Promise<JoinOffer | null> {
  const link = await findOpenLink(service, ref)
  if (!link) return null
  const { user, organization, email } = link.member
  const hasPassword = ref.isMailed ? (await findCredential(service, email)) !== undefined : null
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

/** Whether whom a link was made for has to come by the organization's identity provider. */
export const isBySsoOnly = async ({ db }: ServiceContext, { member: { organization, ownWay } }: AccountLink): Promise<boolean> =>
  ownWay === null && (await isSsoEnforced({ db, organization }))

/**
 * Joins the portal as the member that the link was made for, and signs in; whoever has a second factor once they have shown that. Who has joined another organization with the address before
 * shows to be the same person by their password: a link, which an organization's admin may have seen too, sets none that is set.
 *
 * @returns null when the link can't be used (any more).
 * @throws DomainError invalid, for names and password: `exists`, when the person has joined by another link in this very moment; `needsSso`.
 */
export async function join(
  service: ServiceContext,
  ref: AccountLinkRef,
  input: JoinInput,
): Promise<(Entry & { organizationId: string }) | null> {
  const link = await findOpenLink(service, ref)
  if (!link) return null
  if (await isBySsoOnly(service, link)) refuse([{ field: '', rule: 'account', problem: 'needsSso' }])
  const { firstName, lastName, password, browser } = input
  const { email } = link.member
  const known = await findCredential(service, email)
  refuse(findNameIssues({ firstName, lastName }))
  const words = [firstName, lastName, link.member.organization.name]
  const issues = await judgePassword(service, 'password', password, { email, words })
  // Who has copied the link is answered alike whether or not the address has an account: what is no new password is tried as the one there is.
  const isTried = known !== undefined || (!ref.isMailed && issues.length > 0)
  if (isTried && !(await checkPassword(service, { email, password, origin: browser })))
    refuse(ref.isMailed || issues.length === 0 ? [{ field: 'password', rule: 'account', problem: 'wrong' }] : issues)
  refuse(known ? [] : issues)
  const passwordHash = known?.passwordHash ?? (await hashPassword(password, lineOf(email, browser), () => isOpen(service, ref)))
  if (passwordHash === null) return null
  return inTransaction(service, async (inside) => {
    // The member first, as who sends another link: of two at once each would hold what the other waits for.
    await lockMember(inside, link)
    if (!(await claimLink(inside, ref))) return null
    const credential = known ?? (await createCredential(inside, email, passwordHash))
    if (!credential) throw new DomainError('invalid', { issues: [{ field: 'password', rule: 'account', problem: 'exists' }] })
    const entry = await enter(inside, link.member, { credential, password, browser })
    if (!entry) throw new DomainError('invalid', { issues: [{ field: 'password', rule: 'account', problem: 'wrong' }] })
    const provenAt = inside.deps.clock()
    if (ref.isMailed) await inside.db.credential.update({ where: { id: credential.id }, data: { provenAt } })
    await attach(inside, link, credential.id, { firstName: firstName.trim(), lastName: lastName.trim() })
    return { ...entry, organizationId: link.organizationId }
  })
}

export const lockMember = ({ db }: ServiceContext, { organizationId, memberId }: AccountLink) =>
  run(
    db,
    own({ organization: { id: organizationId } }, 'members')
      .select('id')
      .where('id', '=', memberId)
      .forNoKeyUpdate(),
  )

/** @returns null when the person has joined by another link in this very moment. */
export async function createCredential(
  { db, deps }: ServiceContext,
  email: string,
  passwordHash: string,
): Promise<Credential | null> {
  const now = deps.clock()
  const [made] = await db.credential.createManyAndReturn({
    data: [{ id: deps.newId(), email, passwordHash, passwordChangedAt: now, createdAt: now }],
    skipDuplicates: true,
  })
  return made ?? null
}

export async function attach(
  inside: ServiceContext,
  { member }: Pick<AccountLink, 'member'>,
  credentialId: string,
  names: { firstName: string; lastName: string },
): Promise<void> {
  const updatedAt = inside.deps.clock()
  await inside.db.member.update({ where: { id: member.id }, data: { credentialId, updatedAt } })
  await renameUser(inside, member.userId, names)
  await recordAudit(asMember(inside, member), { action: 'joined' })
}
