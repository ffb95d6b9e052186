import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import { domainOf } from '../validation/email-address.ts'

/** Milliseconds that a domain stays the organization's after its record disappeared. */
export const DOMAIN_GRACE_MS = 30 * DAY_MS

/** Organization that verified the domain of an address; null: none, or its DNS record is missing for too long. */
export async function findDomainOwner({ db, deps }: ServiceContext, email: string): Promise<{ organizationId: string } | null> {
  const verified = await unscoped(db)
    .selectFrom('signInDomains')
    .select(['organizationId', 'failingSince'])
    .where('domain', '=', domainOf(email))
    .where('verifiedAt', 'is not', null)
    .executeTakeFirst()
  return verified && !isDomainLost(verified, deps.clock()) ? { organizationId: verified.organizationId } : null
}

export const isDomainLost = ({ failingSince }: { failingSince: Date | null }, now: Date): boolean =>
  failingSince !== null && now.getTime() - failingSince.getTime() > DOMAIN_GRACE_MS

/** True if members without an exception have to sign in by the organization's identity provider. */
export const isSsoEnforced = async ({
  db,
  organization,
}: Pick<ServiceContext, 'db'> & { organization: { id: string } }): Promise<boolean> =>
  (await db.organizationSecurity.count({ where: { organizationId: organization.id, ssoEnforcedAt: { not: null } } })) > 0
