import { violatedConstraint } from '../../db/errors.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { ServiceContext, Tier } from '../context.ts'
import { totalOrder } from '../lists/page.ts'
import { caseKey } from '../text/fold-text.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { addressEquals } from '../validation/address-equals.ts'
import { toStoredAddress } from '../validation/email-address.ts'

export type { Organization }
export const TIERS = ['standard', 'enterprise'] as const satisfies Tier[]

/** Creates an empty organization. @throws Error if the name exists, ignoring case. */
export async function createOrganization(
  { db, deps: { clock, newId } }: ServiceContext,
  { name, tier = 'standard' }: { name: string; tier?: Tier },
): Promise<Organization> {
  const now = clock()
  return db.organization
    .create({ data: { id: newId(), name, nameKey: caseKey(name), tier, createdAt: now, updatedAt: now } })
    .catch((error) => {
      if (violatedConstraint(error) === 'organizations_name_key')
        throw new Error(`There is already an organization named ${name}.`)
      throw error
    })
}

/** All organizations by name. */
export const listOrganizations = ({ db }: ServiceContext): Promise<Organization[]> =>
  db.organization.findMany({ orderBy: totalOrder({ field: 'name', direction: 'asc' }) })

/** Finds an organization by id or name, ignoring case. @throws Error if it does not exist. */
export async function findOrganization({ db }: ServiceContext, idOrName: string): Promise<Organization> {
  const where = isUuid(idOrName) ? { id: idOrName } : { nameKey: caseKey(idOrName) }
  const organization = await db.organization.findFirst({ where })
  if (!organization) throw new Error(`There is no organization ${idOrName}.`)
  return organization
}

/** Moves an organization to another tier, which has other rate limits. */
export const setTier = ({ db, deps }: ServiceContext, id: string, tier: Tier): Promise<Organization> =>
  db.organization.update({ where: { id }, data: { tier, updatedAt: deps.clock() } })

/**
 * Sets the organization's limit of candidate emails per 24 hours, and reschedules waiting emails.
 *
 * @param mailsPerDay 0: no limit; null: the setting MAILS_PER_ORGANIZATION.
 */
export const setMailsPerDay = (ctx: ServiceContext, id: string, mailsPerDay: number | null): Promise<Organization> =>
  inTransaction(ctx, async ({ db, deps }) => {
    const organization = await db.organization.update({ where: { id }, data: { mailsPerDay, updatedAt: deps.clock() } })
    await db.inviteEmail.updateMany({
      where: { organizationId: id, state: 'queued', delayedUntil: { not: null } },
      data: { delayedUntil: null },
    })
    await deps.queue.bringDelayedMailForward(db, id)
    return organization
  })

/** Finds a member's id by id or email address, ignoring case. @throws Error if the member does not exist. */
export async function findMemberId({ db }: ServiceContext, organizationId: string, idOrEmail: string): Promise<string> {
  const members = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
    .selectFrom('members')
    .select('id')
  const member = await (isUuid(idOrEmail)
    ? members.where('id', '=', idOrEmail)
    : members.where(({ ref }) => addressEquals(ref('email'), toStoredAddress(idOrEmail)))
  ).executeTakeFirst()
  if (!member) throw new Error(`The organization has no member ${idOrEmail}.`)
  return member.id
}
