import { anyOf } from '../../db/query.ts'
import type { EmailFailure, EmailState, MemberEmail as MemberEmailRow, Prisma } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { type EmailQueue, type FailedEmails, type Outcome, type RetryWhich, toRetry } from '../mails/sendings.ts'
import { inTransaction } from '../transaction.ts'
import { defined } from '../values/defined.ts'
import { isUuid } from '../values/uuid.ts'

/** What the service writes to members. What each says, mail/member-email.ts knows. */
export type MemberEmailKind = 'join' | 'reset' | 'webhook_failing' | 'webhook_disabled'

const include = {
  link: { include: { credential: { select: { email: true } } } },
  member: { include: { user: true, organization: { select: { name: true } } } },
  webhook: { select: { url: true, state: true, disabledReason: true, failingSince: true } },
} satisfies Prisma.MemberEmailInclude

/** One mail to a member, with all that it says. */
export type MemberEmail = Prisma.MemberEmailGetPayload<{ include: typeof include }>

/** Adds a mail to the transaction: its record and its job. No request waits for the mail server. */
export async function queueMemberEmail(
  { db, deps: { clock, newId, queue }, organization }: Context,
  about: { kind: MemberEmailKind; memberId: string; linkId?: string; webhookId?: string },
): Promise<void> {
  const now = clock()
  const email = await db.memberEmail.create({
    data: { id: newId(), organizationId: organization.id, ...about, createdAt: now, updatedAt: now },
    select: { id: true },
  })
  await queue.enqueueMemberEmails(db, [email.id])
}

/** Adds a mail for each active admin of the organization to the transaction. */
export async function queueAdminEmails(ctx: Context, about: { kind: MemberEmailKind; webhookId: string }): Promise<void> {
  const where = { organizationId: ctx.organization.id, status: 'active', roles: { has: 'admin' } } as const
  const admins = await ctx.db.member.findMany({ where, select: { id: true } })
  for (const { id: memberId } of admins) await queueMemberEmail(ctx, { ...about, memberId })
}

/** The mails with these ids that exist, in no particular order. */
export const findMemberEmails = ({ db }: ServiceContext, ids: string[]): Promise<MemberEmail[]> =>
  db.memberEmail.findMany({ where: { id: anyOf(ids) }, include, relationLoadStrategy: 'join' })

/** Null when there is no such mail. */
export const findMemberEmail = async ({ db }: ServiceContext, id: string): Promise<MemberEmail | null> =>
  isUuid(id) ? db.memberEmail.findUnique({ where: { id }, include, relationLoadStrategy: 'join' }) : null

/** The newest mails of all organizations, by their ids, which rise with time. @param before only those older than the mail with this id. */
export const listMemberEmails = (
  { db }: ServiceContext,
  { state, before, limit }: { state?: EmailState; before?: string; limit: number },
): Promise<MemberEmail[]> =>
  db.memberEmail.findMany({
    where: defined({ state, id: before === undefined ? undefined : { lt: before } }),
    orderBy: { id: 'desc' },
    take: limit,
    include,
    relationLoadStrategy: 'join',
  })

/** Where the mail goes: what sets a password, to the address that the password belongs to. */
export const recipientOf = ({ member, link }: MemberEmail): string => link?.credential?.email ?? member.email

/** Why a mail is not to be sent any more; null while it is. */
export function whyMemberEmailObsolete({ kind, member, link, webhook }: MemberEmail, now: Date): string | null {
  if (member.status !== 'active') return 'Not sent: the member is not active any more.'
  if (link && (link.usedAt || link.expiresAt <= now)) return 'Not sent: the link can not be used any more.'
  if (kind === 'webhook_failing' && !webhook?.failingSince) return 'Not sent: the webhook works again.'
  if (kind === 'webhook_disabled' && webhook?.state !== 'disabled') return 'Not sent: the webhook is active again.'
  return null
}

/** Records what became of one attempt to send; a mail that another attempt has finished stays as it is. */
export async function recordMemberEmailAttempt(
  { db, deps }: ServiceContext,
  { id }: Pick<MemberEmailRow, 'id'>,
  outcome: Outcome,
): Promise<void> {
  if (outcome.state === 'delayed') throw new Error('No mail to a member is delayed')
  const now = deps.clock()
  const sentAt = outcome.state === 'sent' || outcome.state === 'captured' ? now : null
  await db.memberEmail.updateMany({
    where: { id, state: 'queued' satisfies EmailState },
    data: { reason: '', ...outcome, attempts: { increment: 1 }, updatedAt: now, sentAt },
  })
}

/** Gives up a mail whose retries are used up; the reason of its last attempt stays. */
export async function giveUpMemberEmail({ db, deps }: ServiceContext, id: string): Promise<void> {
  const data = { state: 'failed', failure: 'given_up', updatedAt: deps.clock() } satisfies Partial<MemberEmailRow>
  await db.memberEmail.updateMany({ where: { id, state: 'queued' }, data })
}

/** Queues mails again, all or none: the failed one with the id, or all that are meant. @returns how many. */
export async function retryMemberEmails(ctx: ServiceContext, { id, ...which }: RetryWhich & { id?: string }): Promise<number> {
  if (id !== undefined && !isUuid(id)) return 0
  return inTransaction(ctx, async ({ db, deps: { clock, queue } }) => {
    const failed = await db.memberEmail.updateManyAndReturn({
      where: { ...toRetry(which), ...defined({ id }) },
      data: { state: 'queued', failure: null, sentAt: null, updatedAt: clock() },
      select: { id: true },
    })
    await queue.enqueueMemberEmails(
      db,
      failed.map((email) => email.id),
    )
    return failed.length
  })
}

/** The number of queued mails, and the time of the oldest. */
export async function measureMemberEmailQueue({ db }: Pick<ServiceContext, 'db'>): Promise<EmailQueue> {
  const { _count, _min } = await db.memberEmail.aggregate({ where: { state: 'queued' }, _count: true, _min: { createdAt: true } })
  return { waiting: _count, oldest: _min.createdAt }
}

/** What became of mails to members, counted as measureFailedEmails counts invitations. */
export async function measureFailedMemberEmails({ db }: Pick<ServiceContext, 'db'>, since: Date): Promise<FailedEmails> {
  const countFailed = (failure: EmailFailure) =>
    db.memberEmail.count({ where: { state: 'failed', failure, updatedAt: { gte: since } } })
  return {
    failed: await db.memberEmail.count({ where: { state: 'failed' } }),
    refused: await countFailed('refused'),
    givenUp: await countFailed('given_up'),
    sent: await db.memberEmail.count({ where: { state: 'sent', createdAt: { gte: since } } }),
  }
}
