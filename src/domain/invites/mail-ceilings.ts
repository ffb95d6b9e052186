import { sql } from '../../db/builder.ts'
import { own, type Rows, type SqlBool, sameOwner } from '../../db/own.ts'
import { first } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { createTurns } from '../work/turns.ts'
import type { InviteEmail } from './emails.ts'

/** Invitations that may be sent within 24 hours: to one address over all invites of an organization, and by one organization. 0: any number. */
export type MailCeilings = { perRecipient: number; perOrganization: number }

type Admission = { until: Date } | { until: null; release: () => void }
/** Those under way may be what is too many: it is to be looked again when one of that ceiling has ended. */
type Wait = { until: undefined; key: string; turn: Promise<void> }

const DAY_MS = 86_400_000

/**
 * Decides of each mail whether it may be sent now, or when it is to be looked at again: when the oldest of those that are too many is a
 * day old. Those that this process sends at the moment count as well, and are waited for where they are what is too many; what several
 * processes send at one moment may be some more. Each mail that ends has one of those that wait for it looked at again, so that many
 * that wait cost the database some statements each, however many they are.
 */
export function createCeilings(ceilings: MailCeilings): (system: ServiceContext, email: InviteEmail) => Promise<Admission> {
  const underWay = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()
  /** One at a time is looked at of those that may be too many together: nobody begins in between. */
  const inTurn = createTurns(1)
  const countOf = (key: string) => underWay.get(key) ?? 0
  function change(key: string, by: number): void {
    const count = countOf(key) + by
    if (count > 0) underWay.set(key, count)
    else underWay.delete(key)
  }
  function wait(key: string): Promise<void> {
    const line = waiting.get(key) ?? []
    waiting.set(key, line)
    return new Promise((resolve) => line.push(resolve))
  }
  function wakeNext(key: string): void {
    const line = waiting.get(key)
    line?.shift()?.()
    if (line?.length === 0) waiting.delete(key)
  }

  async function look(system: ServiceContext, checks: Check[]): Promise<Admission | Wait> {
    for (;;) {
      const before = checks.map(({ key }) => countOf(key))
      const over = await findOver(system, checks, before)
      if (over?.until) return { until: over.until }
      if (checks.some(({ key }, i) => countOf(key) !== before[i])) continue // one has ended in between
      if (over) return { until: undefined, key: over.key, turn: wait(over.key) }
      for (const { key } of checks) change(key, 1)
      return { until: null, release: () => release(checks) }
    }
  }
  function release(checks: Check[]): void {
    for (const { key } of checks) change(key, -1)
    for (const { key } of checks) wakeNext(key)
  }
  /** @param offered the ceiling below which a place has become free for it: if it does not take it, for whatever reason, the next may. */
  async function lookInTurn(system: ServiceContext, checks: Check[], offered: string): Promise<Admission | Wait> {
    let isUsed = false
    try {
      const found = await inTurn(checks.at(-1)!.key, () => look(system, checks))
      isUsed = found.until === null || (found.until === undefined && found.key === offered)
      return found
    } finally {
      if (!isUsed) wakeNext(offered)
    }
  }

  return async (system, email) => {
    const checks = checksOf(ceilings, email)
    if (checks.length === 0) return { until: null, release: () => {} }
    for (let offered = ''; ; ) {
      const found = await lookInTurn(system, checks, offered)
      if (found.until !== undefined) return found
      await found.turn
      offered = found.key
    }
  }
}

/** The ceilings that there are for a mail, the widest last. */
function checksOf(
  { perRecipient, perOrganization }: MailCeilings,
  { organizationId, invite: { recipientEmail } }: InviteEmail,
): Check[] {
  const all: Check[] = [
    {
      ceiling: perRecipient,
      key: `${organizationId} ${recipientEmail.toLowerCase()}`,
      sent: toAddress(organizationId, recipientEmail),
    },
    { ceiling: perOrganization, key: organizationId, sent: ofOrganization(organizationId) },
  ]
  return all.filter(({ ceiling }) => ceiling > 0)
}

type Check = { ceiling: number; key: string; sent: Rows<'inviteEmails'> }

/** The first ceiling that is reached. @returns without a time where those under way may be what reaches it; undefined when none is. */
async function findOver(
  { db, deps }: ServiceContext,
  checks: Check[],
  underWay: number[],
): Promise<{ key: string; until: Date | undefined } | undefined> {
  const since = new Date(deps.clock().getTime() - DAY_MS)
  for (const [i, { ceiling, key, sent }] of checks.entries()) {
    const offset = ceiling - 1 - underWay[i]!
    if (offset < 0) return { key, until: undefined }
    const latest = sent
      .where('inviteEmails.state', '=', sql.lit('sent'))
      .where('inviteEmails.sentAt', '>', since)
      .orderBy('inviteEmails.sentAt', 'desc')
    const oldest = await first(db, latest.select('inviteEmails.sentAt').offset(offset).limit(1))
    if (oldest) return { key, until: underWay[i] === 0 ? new Date(oldest.sentAt!.getTime() + DAY_MS) : undefined }
  }
  return undefined
}

/** The mails to the address, of any invite of the organization. */
const toAddress = (organizationId: string, address: string): Rows<'inviteEmails'> =>
  own({ organization: { id: organizationId } }, 'inviteEmails')
    .innerJoin('invites', (join) =>
      join.on(sameOwner('invites', 'inviteEmails')).onRef('invites.id', '=', 'inviteEmails.inviteId'),
    )
    .where(
      ({ ref }) => sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = address_key(${address})`,
    ) as Rows<'inviteEmails'>

const ofOrganization = (organizationId: string): Rows<'inviteEmails'> =>
  own({ organization: { id: organizationId } }, 'inviteEmails')
