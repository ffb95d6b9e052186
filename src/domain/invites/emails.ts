import { anyOf } from '../../db/query.ts'
import { rawStatement } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { insertRows } from '../../db/writes.ts'
import { type EmailFailure, type EmailState, type InviteEmail as InviteEmailRow, Prisma } from '../../generated/prisma/client.ts'
import { type QueuedRef, rowsOf } from '../concurrency/queued-ref.ts'
import type { Connection, Context, ServiceContext } from '../context.ts'
import type { EmailEvent } from '../events/event.ts'
import { recordEmailEvent } from '../events/record-events.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { type FilterConditions, listPage, projectionOf, type RowOf } from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { INVITATION_KINDS, type InvitationKind, isAutomatic, isReminder, WITHDRAWAL_KIND } from '../mails/candidate-mails.ts'
import { classifyBounce, findStatusCode } from '../mails/classify-bounce.ts'
import { type EmailQueue, type FailedEmails, type RetrySelection, type SendOutcome, toRetry } from '../mails/send-outcome.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { requireVisibleInvite } from './invites.ts'
import { type InviteEmail, readEmails } from './read-emails.ts'
import { suppressAddressOf } from './suppress-bounced.ts'

export type { InviteEmail, InviteEmailRow }
export const EMAIL_STATES = ['queued', 'sent', 'captured', 'failed'] as const satisfies EmailState[]
/** State as it is shown: queued emails that wait for another day are `delayed`. */
export const SHOWN_EMAIL_STATES = [...EMAIL_STATES, 'delayed'] as const

/** The state that a sending is shown in. */
export const shownEmailState = (
  { state, delayedUntil }: Pick<ListedEmail, 'state' | 'delayedUntil'>,
  now: Date,
): (typeof SHOWN_EMAIL_STATES)[number] => (state === 'queued' && delayedUntil && new Date(delayedUntil) > now ? 'delayed' : state)

/** Failed emails queued again in one transaction: few enough for its time limit. */
const RETRY_BATCH = 1_000

type InviteEmailRef = Pick<InviteEmailRow, 'id' | 'organizationId'>
/** An email with the content that was recorded for it. */
type SentEmail = InviteEmailRef & Partial<Pick<InviteEmail, 'template' | 'spoken' | 'kind'>>
type Recipient = { id: string; organizationId: string; linkVersion: number }

/** Adds one sending of the invite's mail to the transaction: its record and its job. @param message null: the invite's own. */
export async function queueInvitationEmail(
  ctx: ServiceContext,
  invite: Recipient,
  kind: InvitationKind = 'invitation',
  message: string | null = null,
): Promise<void> {
  const { record, job } = await newInvitationEmail(ctx, invite, ctx.deps.clock(), kind)
  await insertRows(ctx.db, { inviteEmails: [{ ...record, message }] }).execute()
  await job.execute()
}

/**
 * Notifies the candidate of the withdrawal, if an invitation was sent or may be on its way to the mail server. This email waits until the
 * outcome of a queued invitation is known.
 *
 * @param message of the sender.
 */
export async function queueWithdrawalEmail(ctx: ServiceContext, invite: Recipient, message: string): Promise<void> {
  const { id: inviteId, organizationId } = invite
  const now = ctx.deps.clock()
  const isDue = { state: 'queued' as const, OR: [{ delayedUntil: null }, { delayedUntil: { lte: now } }] }
  const invitation = { organizationId, inviteId, kind: { in: [...INVITATION_KINDS] }, OR: [{ sentAt: { not: null } }, isDue] }
  if ((await ctx.db.inviteEmail.count({ where: invitation })) === 0) return
  const { record, job } = await newInvitationEmail(ctx, invite, now, WITHDRAWAL_KIND)
  await insertRows(ctx.db, { inviteEmails: [{ ...record, message }] }).execute()
  await job.execute()
}

/** One sending of the invite's mail, to be written with the invite: its row, and the statement that adds its job. */
export async function newInvitationEmail(
  { db, deps }: ServiceContext,
  { id: inviteId, organizationId, linkVersion }: Recipient,
  createdAt: Date,
  kind: InvitationKind | typeof WITHDRAWAL_KIND = 'invitation',
) {
  const id = deps.newId()
  const record = { id, organizationId, inviteId, kind, linkVersion, createdAt, updatedAt: createdAt }
  return { record, job: rawStatement(db, await deps.queue.invitationEmailJobs([{ id, organizationId }])) }
}

/** The number of queued mails, and the time of the oldest. */
export async function measureEmailQueue({ db }: Pick<ServiceContext, 'db'>): Promise<EmailQueue> {
  const { _count, _min } = await db.inviteEmail.aggregate({ where: { state: 'queued' }, _count: true, _min: { createdAt: true } })
  return { waiting: _count, oldest: _min.createdAt }
}

/** Null if the email does not exist, e.g. because its organization was deleted. */
export const findEmail = async (ctx: ServiceContext, id: string): Promise<InviteEmail | null> =>
  isUuid(id) ? ((await readEmails(ctx, { where: { id } }))[0] ?? null) : null

/** Emails of these jobs in any order, without deleted ones. */
export const findEmails = (ctx: ServiceContext, refs: QueuedRef[]): Promise<InviteEmail[]> =>
  readEmails(ctx, { where: rowsOf(refs) })

/**
 * Records the outcome of one attempt to send. An email that is no longer `queued` stays as it is: this attempt took so long that another
 * process got the job and finished it.
 */
export async function recordEmailAttempt(ctx: ServiceContext, email: SentEmail, outcome: SendOutcome): Promise<void> {
  if (outcome.state === 'delayed') return delayEmails(ctx, [email], { until: outcome.until, jobIds: [outcome.jobId] })
  const { state, reason, failure } = { reason: '', failure: null, ...outcome }
  const now = ctx.deps.clock()
  const sentAt = state === 'sent' || state === 'captured' ? now : null
  const refusal = outcome.state === 'failed' && outcome.failure === 'refused' ? toBounce(reason, now) : undefined
  const change = queuedEmail(ctx.db, email).set(({ eb, ref }) => ({
    ...refusal,
    state,
    failure,
    reason,
    attempts: eb(ref('inviteEmails.attempts'), '+', 1),
    updatedAt: now,
    sentAt,
    templateId: sentAt && (email.template?.id ?? null),
    ...(sentAt && email.spoken && { language: email.spoken }),
  }))
  const event = toEmailEvent(email.kind ?? 'invitation', outcome)
  if (event) await recordEmailEvent(ctx, change, event)
  else await change.execute()
  if (refusal) await suppressAddressOf(ctx, email.id, refusal.bounce)
}

/** Event of an attempt. Null if nothing was missed: reminders, notices, and withdrawals that are no longer needed. */
function toEmailEvent(kind: string, outcome: SendOutcome): EmailEvent | null {
  if (outcome.state === 'sent') return { type: isReminder(kind) ? 'reminder.sent' : 'email.sent' }
  const reason = outcome.state === 'failed' ? outcome.failure : null
  const isLeftOut = (isAutomatic(kind) || kind === WITHDRAWAL_KIND) && (reason === 'suppressed' || reason === 'obsolete')
  return reason === null || isLeftOut ? null : { type: 'email.failed', reason }
}

/** A server's immediate rejection counts as a bounce. */
function toBounce(reason: string, now: Date) {
  const bounceStatus = findStatusCode(reason)
  return { bouncedAt: now, bounce: classifyBounce(bounceStatus), bounceStatus, bounceReason: reason }
}

/**
 * Delays mails: each gets a job that is due at its time. Repeating it changes nothing, because a caller may not know if it succeeded.
 *
 * @param jobIds of these jobs, in the order of the emails.
 */
export const delayEmails = (
  ctx: ServiceContext,
  emails: SentEmail[],
  { until, jobIds }: { until: Date; jobIds: string[] },
): Promise<void> =>
  inTransaction(ctx, async ({ db, deps: { clock, queue } }) => {
    const waiting = await db.inviteEmail.updateManyAndReturn({
      where: { ...rowsOf(emails), state: 'queued' },
      data: { delayedUntil: until, updatedAt: clock() },
      select: { id: true },
    })
    const ids = new Set(waiting.map(({ id }) => id))
    const jobs = emails.map(({ id, organizationId, kind = 'invitation' }, i) => {
      return { id, organizationId, startAfter: until, jobId: jobIds[i]!, isPatient: isAutomatic(kind) }
    })
    for (const isPatient of [false, true]) {
      const dueJobs = jobs.filter((job) => ids.has(job.id) && job.isPatient === isPatient)
      if (dueJobs.length > 0) await rawStatement(db, await queue.invitationEmailJobs(dueJobs, { isPatient })).execute()
    }
  })

/** Marks an email without retries left as failed; the reason of its last attempt is kept. */
export const giveUpEmail = (ctx: ServiceContext, ref: QueuedRef): Promise<void> =>
  recordEmailEvent(ctx, queuedEmail(ctx.db, ref).set({ state: 'failed', failure: 'given_up', updatedAt: ctx.deps.clock() }), {
    type: 'email.failed',
    reason: 'given_up',
  })

/** An UPDATE of an email, if it is still queued. */
const queuedEmail = (db: Connection, { id, organizationId }: QueuedRef) =>
  unscoped(db)
    .updateTable('inviteEmails')
    .where('inviteEmails.organizationId', '=', organizationId)
    .where('inviteEmails.id', '=', id)
    .where('inviteEmails.state', '=', 'queued')

/** The number of failed mails in all, and the numbers of mails refused by the mail server, given up, and sent since that time. */
export async function measureFailedEmails({ db }: Pick<ServiceContext, 'db'>, since: Date): Promise<FailedEmails> {
  const countFailed = (failure: EmailFailure) =>
    db.inviteEmail.count({ where: { state: 'failed', failure, updatedAt: { gte: since } } })
  return {
    failed: await db.inviteEmail.count({ where: { state: 'failed' } }),
    refused: await countFailed('refused'),
    givenUp: await countFailed('given_up'),
    sent: await db.inviteEmail.count({ where: { state: 'sent', createdAt: { gte: since } } }),
  }
}

/** Mails sent since then that bounced because a server blocked the service or gave no reason. */
export const measureBlockedEmails = ({ db }: Pick<ServiceContext, 'db'>, since: Date): Promise<number> =>
  db.inviteEmail.count({ where: { state: 'sent', createdAt: { gte: since }, bounce: 'blocked' } })

/**
 * The newest emails of all organizations, for the operator, ordered by id, which increases with time: a page costs the same however
 * many emails there are.
 *
 * @param before only emails older than the one with this id.
 */
export const listEmails = (
  ctx: ServiceContext,
  { state, before, limit }: { state?: EmailState; before?: string; limit: number },
): Promise<InviteEmail[]> =>
  readEmails(ctx, {
    where: omitUndefined({ state, id: before === undefined ? undefined : { lt: before } }),
    orderBy: { id: 'desc' },
    take: limit,
  })

export type InviteEmailOrder = Order<'createdAt'>

const filters: FilterConditions<'inviteEmails', { inviteId: string; isInvitation?: true | undefined }> = {
  inviteId: '=',
  isInvitation: (eb) => eb('inviteEmails.kind', 'in', [...INVITATION_KINDS]),
}
const emailList = { table: 'inviteEmails', filters } as const
const wholeEmail = projectionOf('inviteEmails', Prisma.InviteEmailScalarFieldEnum)
export type ListedEmail = RowOf<typeof wholeEmail>

/** An invite's emails. @param kinds default: invitations. @throws DomainError invite_not_found. */
export async function listInviteEmails(
  ctx: Context,
  inviteId: string,
  order: InviteEmailOrder,
  page: PageRequest,
  kinds: 'all' | 'invitations' = 'all',
): Promise<ListPage<ListedEmail>> {
  await requireVisibleInvite(ctx, inviteId)
  const filter = { inviteId, isInvitation: kinds === 'invitations' || undefined }
  return listPage(ctx, emailList, { projection: wholeEmail, filter, order, page })
}

/** Queues a failed email again. @returns 0 if there is no failed email with that id, else 1. */
export const retryFailedEmail = async (ctx: ServiceContext, id: string): Promise<number> => (isUuid(id) ? requeue(ctx, [id]) : 0)

/**
 * Queues emails again, in batches that are committed one by one.
 *
 * @returns how many were queued.
 */
export async function retryEmails(ctx: ServiceContext, selection: RetrySelection = {}): Promise<number> {
  const { state = 'failed' } = selection
  // Mails of test invites stay captured.
  const live = state === 'captured' && { invite: { mode: 'live' as const } }
  let queued = 0
  for (let last: string | undefined; ; ) {
    const batch = await ctx.db.inviteEmail.findMany({
      // Only emails after the last batch: one that fails again in the meantime is not queued a second time.
      where: { ...toRetry(selection), ...live, ...omitUndefined({ id: last === undefined ? undefined : { gt: last } }) },
      orderBy: { id: 'asc' },
      take: RETRY_BATCH,
      select: { id: true },
    })
    last = batch.at(-1)?.id
    if (last === undefined) return queued
    queued += await requeue(
      ctx,
      batch.map(({ id }) => id),
      state,
    )
  }
}

const NO_BOUNCE = { bouncedAt: null, bounce: null, bounceStatus: null, bounceReason: null }

/** Queues the emails with these ids in that state, all or none. @returns their number. */
const requeue = (ctx: ServiceContext, ids: string[], state: 'failed' | 'captured' = 'failed'): Promise<number> =>
  inTransaction(ctx, async ({ db, deps: { clock, queue } }) => {
    const failed = await db.inviteEmail.updateManyAndReturn({
      where: { id: anyOf(ids), state },
      data: { state: 'queued', failure: null, sentAt: null, ...NO_BOUNCE, updatedAt: clock() },
      select: { id: true, organizationId: true },
    })
    await rawStatement(db, await queue.invitationEmailJobs(failed)).execute()
    return failed.length
  })
