import { randomBytes } from 'node:crypto'
import { violatedConstraint } from '../../db/errors.ts'
import { unscopedPrisma } from '../../db/unscoped.ts'
import type { SignInDomain } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { lockOrganization } from '../concurrency/lock-organization.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { queueOwnerEmails } from '../mails/member-emails.ts'
import type { NameOrDateProblem, SingleSignOnProblem } from '../ports/problems.ts'
import { isDomainLost } from '../sign-in/domain-owners.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'

export type { SignInDomain }

/** Domains of one organization. */
const MAX_DOMAINS = 50
const TOKEN_BYTES = 16
/** Public mail providers, whose domains nobody can verify. */
const PUBLIC_DOMAINS = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com hotmail.co.uk hotmail.fr hotmail.de live.com msn.com yahoo.com yahoo.co.uk yahoo.fr
   yahoo.de yahoo.co.jp ymail.com icloud.com me.com mac.com aol.com proton.me protonmail.com pm.me gmx.de gmx.net gmx.com gmx.at gmx.ch web.de
   t-online.de freenet.de mail.com mail.ru yandex.ru yandex.com bk.ru inbox.ru list.ru qq.com 163.com 126.com sina.com naver.com hanmail.net
   daum.net zoho.com fastmail.com tutanota.com tuta.io hey.com orange.fr wanadoo.fr free.fr laposte.net libero.it virgilio.it tiscali.it
   bol.com.br uol.com.br terra.com.br hushmail.com mailbox.org posteo.de comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net
   rediffmail.com bigpond.com optusnet.com.au btinternet.com sky.com virginmedia.com bluewin.ch seznam.cz wp.pl o2.pl onet.pl interia.pl`.split(
    /\s+/,
  ),
)

/** Name and value of the DNS record that proves the ownership of a domain. */
export const dnsRecordOf = ({ domain, token }: Pick<SignInDomain, 'domain' | 'token'>) => ({
  name: `_assessment-sign-in.${domain}`,
  value: token,
})

/** @throws DomainError not_permitted. */
export async function listDomains(ctx: Context): Promise<SignInDomain[]> {
  authorize(ctx, 'manage_security')
  return ctx.db.signInDomain.findMany({ where: { organizationId: ctx.organization.id }, orderBy: { domain: 'asc' } })
}

/**
 * Adds a domain for the organization's provider. It takes effect once {@link verifyDomain} finds the DNS record.
 *
 * @throws DomainError not_permitted; invalid: an invalid domain, `publicDomain`, `taken`, `domainTaken`, `tooManyDomains`.
 */
export async function addDomain(ctx: Context, typedDomain: string): Promise<void> {
  authorize(ctx, 'manage_security')
  const domain = toStoredAddress(`a@${typedDomain.trim().replace(/^@/, '').replace(/\.$/, '')}`)
    .slice('a@'.length)
    .toLowerCase()
  if (!isEmailAddress(`a@${domain}`)) throw createDomainProblem('notDomain')
  if (PUBLIC_DOMAINS.has(domain)) throw createDomainProblem('publicDomain')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await lockOrganization(inside)
    if ((await db.signInDomain.count({ where: { organizationId: organization.id } })) >= MAX_DOMAINS)
      throw createDomainProblem('tooManyDomains', MAX_DOMAINS)
    if (isDomainHeld(inside, await findOfAnother(inside, domain))) throw createDomainProblem('domainTaken')
    const data = { id: deps.newId(), organizationId: organization.id, domain, token: randomBytes(TOKEN_BYTES).toString('hex') }
    const { count } = await db.signInDomain.createMany({ data: [{ ...data, createdAt: deps.clock() }], skipDuplicates: true })
    if (count === 0) throw createDomainProblem('taken')
    await recordAudit(inside, { action: 'added_sign_in_domain', details: { domain } })
  })
}

/**
 * Looks up a domain's DNS record. @returns true if it exists. If the domain was verified by another organization that has lost its record,
 * that organization's admins are notified.
 *
 * @throws DomainError not_permitted; sign_in_setting_not_found; invalid: `domainTaken` if another organization verified it earlier.
 */
export async function verifyDomain(ctx: Context, id: string): Promise<boolean> {
  const found = await getDomain(ctx, id)
  const isThere = await hasDnsRecord(ctx, found)
  const now = ctx.deps.clock()
  if (!isThere) {
    await ctx.db.signInDomain.updateMany({ where: { organizationId: found.organizationId, id }, data: { checkedAt: now } })
    return false
  }
  const before = await findOfAnother(ctx, found.domain)
  // The record may be back since the last check.
  if (before && (isDomainHeld(ctx, before) || (await hasDnsRecord(ctx, before)))) throw createDomainProblem('domainTaken')
  await inTransaction(ctx, async (inside) => {
    const otherClaim = await findOfAnother(inside, found.domain)
    if (isDomainHeld(inside, otherClaim)) throw createDomainProblem('domainTaken')
    if (otherClaim) await takeOverDomain(inside, otherClaim)
    const data = { verifiedAt: found.verifiedAt ?? now, checkedAt: now, failingSince: null }
    await inside.db.signInDomain.updateMany({ where: { organizationId: found.organizationId, id }, data })
    if (!found.verifiedAt) await recordAudit(inside, { action: 'verified_sign_in_domain', details: { domain: found.domain } })
  }).catch((error) => {
    throw violatedConstraint(error) === ONE_ORGANIZATION ? createDomainProblem('domainTaken') : error
  })
  return true
}
/** Unique constraint: one of two concurrent verifications wins. */
const ONE_ORGANIZATION = 'sign_in_domains_verified_key'

/** Removes a domain. Its addresses link and add nobody any more; existing links stay. @throws DomainError as above. */
export async function removeDomain(ctx: Context, id: string): Promise<void> {
  const { organizationId, domain } = await getDomain(ctx, id)
  await inTransaction(ctx, async (inside) => {
    const { count } = await inside.db.signInDomain.deleteMany({ where: { organizationId, id } })
    if (count > 0) await recordAudit(inside, { action: 'removed_sign_in_domain', details: { domain } })
  })
}

async function getDomain(ctx: Context, id: string): Promise<SignInDomain> {
  authorize(ctx, 'manage_security')
  const where = { id, organizationId: ctx.organization.id }
  const found = isUuid(id) && (await ctx.db.signInDomain.findFirst({ where }))
  if (!found) throw new DomainError('sign_in_setting_not_found')
  return found
}

/** True if the DNS record is there. False also if no name server replies. */
export async function hasDnsRecord({ deps }: Pick<ServiceContext, 'deps'>, domain: SignInDomain): Promise<boolean> {
  const { name, value } = dnsRecordOf(domain)
  const records = await deps.identityProviders.textRecords(name).catch(() => [])
  return records.some((record) => record.trim() === value)
}

/** The same domain as verified by another organization. */
const findOfAnother = ({ db, organization }: Context, domain: string): Promise<SignInDomain | null> =>
  unscopedPrisma(db).signInDomain.findFirst({
    where: { domain, verifiedAt: { not: null }, organizationId: { not: organization.id } },
  })

/** True if another organization still holds the domain: its record is there, or was not missing for long. */
const isDomainHeld = ({ deps }: Context, claim: SignInDomain | null): boolean =>
  claim !== null && !isDomainLost(claim, deps.clock())

/** Removes a domain from an organization that has lost its DNS record, and notifies its owners. */
async function takeOverDomain(inside: Context, { organizationId, id, domain }: SignInDomain): Promise<void> {
  const data = { verifiedAt: null, failingSince: null }
  const { origin: _, ...formerOwner } = enterOrganization({ ...inside, actor: { kind: 'system' } }, { id: organizationId })
  await formerOwner.db.signInDomain.update({ where: { organizationId_id: { organizationId, id } }, data })
  await recordAudit(formerOwner, { action: 'lost_sign_in_domain', details: { domain } })
  await queueOwnerEmails(formerOwner, { kind: 'domain_lost', facts: { called: domain } })
}

const createDomainProblem = (problem: SingleSignOnProblem | NameOrDateProblem, limit?: number): DomainError =>
  new DomainError('invalid', { issues: [{ field: 'domain', rule: 'account', problem, ...(limit !== undefined && { limit }) }] })
