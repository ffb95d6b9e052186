import { queryRows } from '../../db/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import type { InviteEmail } from './emails.ts'

/** Invitations that may be sent within 24 hours: to one address over all invites of an organization, and by one organization. 0: any number. */
export type MailCeilings = { perRecipient: number; perOrganization: number }

type Admission = { until: Date } | { until: null; release: () => void }

const DAY_MS = 86_400_000

/**
 * Decides of each mail whether it may be sent now, or when it is to be looked at again: when the oldest of those that are too many is a
 * day old. Of those that a process sends at the same moment each counts; what several processes send in one moment may be some more.
 */
export function createCeilings(ceilings: MailCeilings): (system: ServiceContext, email: InviteEmail) => Promise<Admission> {
  const underWay = new Map<string, number>()
  const change = (key: string, by: number) => {
    const count = (underWay.get(key) ?? 0) + by
    if (count > 0) underWay.set(key, count)
    else underWay.delete(key)
  }
  return async ({ db, deps }, { organizationId, invite: { recipientEmail } }) => {
    const checks = [
      [ceilings.perRecipient, `${organizationId} ${recipientEmail.toLowerCase()}`, toAddress(organizationId, recipientEmail)],
      [ceilings.perOrganization, organizationId, ofOrganization(organizationId)],
    ] as const
    const counted = checks.filter(([ceiling]) => ceiling > 0)
    const keys = counted.map(([, key]) => key)
    for (const key of keys) change(key, 1)
    const release = () => {
      for (const key of keys) change(key, -1)
    }
    try {
      const since = new Date(deps.clock().getTime() - DAY_MS)
      for (const [ceiling, key, sent] of counted) {
        // Those that are under way, this one left out, count as if they were sent.
        const free = ceiling - (underWay.get(key)! - 1)
        const [over] = await queryRows<{ sentAt: Date }>(
          db,
          Prisma.sql`${sent} AND e.state = 'sent' AND e.sent_at > ${since} ORDER BY e.sent_at DESC LIMIT 1 OFFSET ${Math.max(free - 1, 0)}`,
        )
        if (!over && free > 0) continue
        release()
        return { until: new Date((over?.sentAt ?? deps.clock()).getTime() + DAY_MS) }
      }
      return { until: null, release }
    } catch (error) {
      release()
      throw error
    }
  }
}

/** SQL: when mails were sent to the address, by any invite of the organization. */
const toAddress = (organizationId: string, address: string): Prisma.Sql => Prisma.sql`
  SELECT e.sent_at AS "sentAt" FROM invites i JOIN invite_emails e ON e.organization_id = i.organization_id AND e.invite_id = i.id
  WHERE i.organization_id = ${organizationId}::uuid AND lower(i.recipient_email) = lower(${address})`

const ofOrganization = (organizationId: string): Prisma.Sql => Prisma.sql`
  SELECT e.sent_at AS "sentAt" FROM invite_emails e WHERE e.organization_id = ${organizationId}::uuid`
