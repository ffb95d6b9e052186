import { sql } from '../../db/builder.ts'
import type { Connection } from '../../db/client.ts'
import type { SqlBool } from '../../db/queries.ts'
import type { Executable } from '../../db/statements.ts'
import { type TenantDb, tenantDb } from '../../db/tenant-db.ts'
import { createKeyedLimiter } from '../concurrency/work-queues.ts'
import type { ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import type { InviteEmail } from './emails.ts'
import { nthMailTime, nthSentTime } from './mail-schedule.ts'

/** Invitations that may be sent within 24 hours: to one address over all invites of an organization, and by one organization. 0: any number. */
export type MailLimits = { perRecipient: number; perOrganization: number }

type Admission = { until: Date } | { until: null; release: () => void }
/** Sends in progress count towards the limit, so check again when one of them finishes. */
type WaitForSend = { until: undefined; key: string; turn: Promise<void> }

/** Milliseconds. A mail at its planned time is retried if it can leave within this time; otherwise it is planned after all others. */
const SOON_MS = 3_600_000

/**
 * Decides whether a mail may be sent now, or when to check again: when the oldest counted mail is a day old. Waiting mails count towards
 * the organization's limit, so that each gets its own time (see mail-schedule.ts). Sends in progress count, too: at the limit, the next
 * mail waits until one of them finishes. Several processes may exceed the limit slightly.
 */
export function createMailLimiter(limits: MailLimits): (system: ServiceContext, email: InviteEmail) => Promise<Admission> {
  const underWay = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()
  /** Serializes checks near a limit, so that no other send starts in between. */
  const inTurn = createKeyedLimiter(1)
  const countOf = (key: string) => underWay.get(key) ?? 0
  function change(key: string, delta: number): void {
    const count = countOf(key) + delta
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

  async function checkLimits(system: ServiceContext, checks: MailLimit[]): Promise<Admission | WaitForSend> {
    for (;;) {
      const before = checks.map(({ key }) => countOf(key))
      const reachedLimit = await findReachedLimit(system, checks, before)
      if (reachedLimit?.until) return { until: reachedLimit.until }
      if (checks.some(({ key }, i) => countOf(key) !== before[i])) continue // one has ended in between
      if (reachedLimit) return { until: undefined, key: reachedLimit.key, turn: wait(reachedLimit.key) }
      for (const { key } of checks) change(key, 1)
      return { until: null, release: () => release(checks) }
    }
  }
  function release(checks: MailLimit[]): void {
    for (const { key } of checks) change(key, -1)
    for (const { key } of checks) wakeNext(key)
  }
  /** @param offered limit that just got capacity. If this mail doesn't use it, the next one may. */
  async function checkLimitsInTurn(
    system: ServiceContext,
    checks: MailLimit[],
    offered: string,
  ): Promise<Admission | WaitForSend> {
    let isUsed = false
    try {
      const found = await inTurn(checks.at(-1)!.key, () => checkLimits(system, checks))
      isUsed = found.until === null || (found.until === undefined && found.key === offered)
      return found
    } finally {
      if (!isUsed) wakeNext(offered)
    }
  }

  return async (system, email) => {
    const checks = limitsOf(system.db, limits, email)
    if (checks.length === 0) return { until: null, release: () => {} }
    for (let offered = ''; ; ) {
      const found = await checkLimitsInTurn(system, checks, offered)
      if (found.until !== undefined) return found
      await found.turn
      offered = found.key
    }
  }
}

/** Limits that apply to a mail, the widest last. */
function limitsOf(db: Connection, { perRecipient, perOrganization }: MailLimits, email: InviteEmail): MailLimit[] {
  const { organizationId, invite, delayedUntil } = email
  const { recipientEmail } = invite
  const tenant = tenantDb(db, { organization: { id: organizationId }, mode: 'all' })
  const perDay = invite.organization.mailsPerDay ?? perOrganization
  const limits: MailLimit[] = [
    {
      limit: perRecipient,
      key: `${organizationId} ${recipientEmail.toLowerCase()}`,
      nth: (since, n) => timesToAddress(tenant, recipientEmail, since).offset(n).limit(1),
    },
    {
      limit: perDay,
      key: organizationId,
      // A mail at its planned time counts sent mails only, not those planned after it.
      nth: (since, n) => (delayedUntil ? nthSentTime : nthMailTime)(tenant, since, n),
      ...(delayedUntil && { nthPlanned: (since: Date, n: number) => nthMailTime(tenant, since, n) }),
    },
  ]
  return limits.filter(({ limit }) => limit > 0)
}

type NthTime = (since: Date, n: number) => Executable<{ at: Date }>
/** @property nth finds the nth latest counted mail, from 0. @property nthPlanned also counts waiting mails. */
type MailLimit = { limit: number; key: string; nth: NthTime; nthPlanned?: NthTime }

/** First exceeded limit. @returns no time if only sends in progress exceed it; undefined if no limit is exceeded. */
async function findReachedLimit(
  { deps }: ServiceContext,
  checks: MailLimit[],
  underWay: number[],
): Promise<{ key: string; until: Date | undefined } | undefined> {
  const now = deps.clock()
  const dayAgo = new Date(now.getTime() - DAY_MS)
  for (const [i, { limit, key, nth, nthPlanned }] of checks.entries()) {
    const n = limit - 1 - underWay[i]!
    if (n < 0) return { key, until: undefined }
    const dayAfter = async (find: NthTime) => {
      const found = await find(dayAgo, n).executeTakeFirst()
      return found && new Date(found.at.getTime() + DAY_MS)
    }
    const until = await dayAfter(nth)
    if (!until) continue
    if (underWay[i] !== 0) return { key, until: undefined }
    const isSoon = until.getTime() - now.getTime() <= SOON_MS
    return { key, until: isSoon || !nthPlanned ? until : ((await dayAfter(nthPlanned)) ?? until) }
  }
  return undefined
}

/** Times of the mails that were sent to the address since then, of any invite of the organization, the latest first. */
const timesToAddress = (db: TenantDb, address: string, since: Date) =>
  db
    .selectFrom('inviteEmails')
    .innerJoin(db.table('invites'), 'invites.id', 'inviteEmails.inviteId')
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = address_key(${address})`)
    .where('inviteEmails.state', '=', sql.lit('sent'))
    .where('inviteEmails.sentAt', '>', since)
    .select(({ ref }) => sql<Date>`${ref('inviteEmails.sentAt')}`.as('at'))
    .orderBy('inviteEmails.sentAt', 'desc')
