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
 * day old. Those that this process sends at the moment count as well, and are waited for where they are what is too many; what several
 * processes send at one moment may be some more.
 */
export function createCeilings(ceilings: MailCeilings): (system: ServiceContext, email: InviteEmail) => Promise<Admission> {
  const underWay = new Map<string, number>()
  const waiting: (() => void)[] = []
  const countOf = (key: string) => underWay.get(key) ?? 0
  function change(key: string, by: number): void {
    const count = countOf(key) + by
    if (count > 0) underWay.set(key, count)
    else underWay.delete(key)
  }
  return async (system, { organizationId, invite: { recipientEmail } }) => {
    const all: Check[] = [
      {
        ceiling: ceilings.perRecipient,
        key: `${organizationId} ${recipientEmail.toLowerCase()}`,
        sent: toAddress(organizationId, recipientEmail),
      },
      { ceiling: ceilings.perOrganization, key: organizationId, sent: ofOrganization(organizationId) },
    ]
    const checks = all.filter(({ ceiling }) => ceiling > 0)
    for (;;) {
      const before = checks.map(({ key }) => countOf(key))
      const over = await findOver(system, checks, before)
      if (over?.until) return { until: over.until }
      if (checks.some(({ key }, i) => countOf(key) !== before[i])) continue // somebody came or went in between
      if (!over) break
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    for (const { key } of checks) change(key, 1)
    const release = () => {
      for (const { key } of checks) change(key, -1)
      for (const resolve of waiting.splice(0)) resolve()
    }
    return { until: null, release }
  }
}

type Check = { ceiling: number; key: string; sent: Prisma.Sql }

/** The first ceiling that is reached. @returns without a time where those under way may be what reaches it; undefined when none is. */
async function findOver(
  { db, deps }: ServiceContext,
  checks: Check[],
  underWay: number[],
): Promise<{ until: Date | undefined } | undefined> {
  const since = new Date(deps.clock().getTime() - DAY_MS)
  for (const [i, { ceiling, sent }] of checks.entries()) {
    const offset = ceiling - 1 - underWay[i]!
    if (offset < 0) return { until: undefined }
    const [oldest] = await queryRows<{ sentAt: Date }>(
      db,
      Prisma.sql`${sent} AND e.state = 'sent' AND e.sent_at > ${since} ORDER BY e.sent_at DESC LIMIT 1 OFFSET ${offset}`,
    )
    if (oldest) return { until: underWay[i] === 0 ? new Date(oldest.sentAt.getTime() + DAY_MS) : undefined }
  }
  return undefined
}

/** SQL: when mails were sent to the address, by any invite of the organization. */
const toAddress = (organizationId: string, address: string): Prisma.Sql => Prisma.sql`
  SELECT e.sent_at AS "sentAt" FROM invites i JOIN invite_emails e ON e.organization_id = i.organization_id AND e.invite_id = i.id
  WHERE i.organization_id = ${organizationId}::uuid AND lower(i.recipient_email) = lower(${address})`

const ofOrganization = (organizationId: string): Prisma.Sql => Prisma.sql`
  SELECT e.sent_at AS "sentAt" FROM invite_emails e WHERE e.organization_id = ${organizationId}::uuid`
