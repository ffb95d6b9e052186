import { own } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import { type AccountLink, claimLink, findOpenLink, isOpen } from '../access/account-links.ts'
import { findPasswordIssues, hashPassword, lineOf } from '../access/passwords.ts'
import { asMember, type Browser, type Credential, type NewSession, startSession } from '../access/sessions.ts'
import { checkPassword, findCredential } from '../access/sign-in.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { findNameIssues } from '../checking/find-name-issues.ts'
import { refuse } from '../checking/refuse.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { AccountLinkRef } from '../secrets/account-tokens.ts'
import { inTransaction } from '../transaction.ts'

/** What somebody who opens a link to join is shown. */
export type JoinOffer = {
  organization: string
  email: string
  firstName: string
  lastName: string
  /** Whether the address has a password already, which then is asked for instead of a new one. */
  hasPassword: boolean
}

export type JoinInput = { firstName: string; lastName: string; password: string; browser: Browser }

/** What a link offers; null when it can't be used (any more). Changes nothing. */
export async function readJoinOffer(service: ServiceContext, ref: AccountLinkRef): Promise<JoinOffer | null> {
  const link = await findOpenLink(service, ref)
  if (!link) return null
  const { user, organization, email } = link.member
  const hasPassword = (await findCredential(service, email)) !== undefined
  return { organization: organization.name, email, firstName: user.firstName, lastName: user.lastName, hasPassword }
}

/**
 * Joins the portal as the member that the link was made for, and signs in. Who has joined another organization with the address before
 * shows to be the same person by their password: a link, which an organization's admin may have seen too, sets none that is set.
 *
 * @returns null when the link can't be used (any more).
 * @throws DomainError invalid, for names and password.
 */
export async function join(
  service: ServiceContext,
  ref: AccountLinkRef,
  input: JoinInput,
): Promise<(NewSession & { organizationId: string }) | null> {
  const link = await findOpenLink(service, ref)
  if (!link) return null
  const { firstName, lastName, password, browser } = input
  const { email } = link.member
  const known = await findCredential(service, email)
  const issues = [...findNameIssues({ firstName, lastName }), ...(known ? [] : findPasswordIssues('password', password, email))]
  refuse(issues)
  if (known && !(await checkPassword(service, { email, password, origin: browser })))
    refuse([{ field: 'password', rule: 'account', problem: 'wrong' }])
  const passwordHash = known?.passwordHash ?? (await hashPassword(password, lineOf(email, browser), () => isOpen(service, ref)))
  if (passwordHash === null) return null
  return inTransaction(service, async (inside) => {
    // The member first, as who sends another link: of two at once each would hold what the other waits for.
    await lockMember(inside, link)
    if (!(await claimLink(inside, ref))) return null
    const credential = known ?? (await createCredential(inside, email, passwordHash))
    const session = await startSession(inside, credential, browser)
    if (!session) throw new DomainError('invalid', { issues: [{ field: 'password', rule: 'account', problem: 'wrong' }] })
    await attach(inside, link, credential.id, { firstName: firstName.trim(), lastName: lastName.trim() })
    return { ...session, organizationId: link.organizationId }
  })
}

const lockMember = ({ db }: ServiceContext, { organizationId, memberId }: AccountLink) =>
  run(
    db,
    own({ organization: { id: organizationId } }, 'members')
      .select('id')
      .where('id', '=', memberId)
      .forNoKeyUpdate(),
  )

/** @throws DomainError invalid: `exists`, when the person has set a password by another link in this very moment. */
async function createCredential({ db, deps }: ServiceContext, email: string, passwordHash: string): Promise<Credential> {
  const now = deps.clock()
  const [made] = await db.credential.createManyAndReturn({
    data: [{ id: deps.newId(), email, passwordHash, passwordChangedAt: now, createdAt: now }],
    skipDuplicates: true,
  })
  if (!made) throw new DomainError('invalid', { issues: [{ field: 'password', rule: 'account', problem: 'exists' }] })
  return made
}

async function attach(
  inside: ServiceContext,
  { member }: AccountLink,
  credentialId: string,
  names: { firstName: string; lastName: string },
): Promise<void> {
  const updatedAt = inside.deps.clock()
  await inside.db.member.update({ where: { id: member.id }, data: { credentialId, updatedAt } })
  await inside.db.user.update({ where: { id: member.userId }, data: { ...names, updatedAt } })
  await recordAudit(asMember(inside, member), { action: 'joined' })
}
