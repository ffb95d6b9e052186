import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import { domainOf } from '../validation/email-address.ts'

/** Milliseconds for which a domain whose record is gone is still the organization's. */
export const GRACE_MS = 30 * DAY_MS

/** Whose identity providers speak for an address; null: nobody's. One whose record has been gone for too long speaks for none. */
export async function findSpeaker({ db, deps }: ServiceContext, email: string): Promise<{ organizationId: string } | null> {
  const verified = await unscoped(db)
    .selectFrom('signInDomains')
    .select(['organizationId', 'failingSince'])
    .where('domain', '=', domainOf(email))
    .where('verifiedAt', 'is not', null)
    .executeTakeFirst()
  return verified && !isLost(verified, deps.clock()) ? { organizationId: verified.organizationId } : null
}

/** Whether the record of a domain has been missing for too long. */
export const isLost = ({ failingSince }: { failingSince: Date | null }, now: Date): boolean =>
  failingSince !== null && now.getTime() - failingSince.getTime() > GRACE_MS

/** Whether the organization's identity provider is the only way in, but for those who are named. */
export const isSsoEnforced = async ({
  db,
  organization,
}: Pick<ServiceContext, 'db'> & { organization: { id: string } }): Promise<boolean> =>
  (await db.organizationSecurity.count({ where: { organizationId: organization.id, ssoEnforcedAt: { not: null } } })) > 0
