import type { Context } from '../context.ts'
import { recordEmailAttempt } from '../invites/emails.ts'
import type { InviteDetail } from '../invites/invites.ts'
import { createMoveError } from '../invites/move-invite.ts'
import { resendInvite } from '../invites/operate-invite.ts'
import { recordMailNotice } from '../invites/record-mail-event.ts'
import { isRemindedState, reminderKindOf } from '../invites/reminders/reminder-steps.ts'
import { findSuppressionReason } from '../invites/suppressions.ts'
import { unsubscribe } from '../invites/unsubscribe.ts'
import { INVITATION_KINDS } from '../mails/candidate-mails.ts'
import { inTransaction } from '../transaction.ts'

/** Rejection of an unknown address. */
const REFUSAL = '550 5.1.1 There is no such mailbox (simulated)'

/**
 * Simulates that the mail server refuses the newest mail of the invite, even if it accepted it. Sends one first if there is none.
 *
 * @throws DomainError move_not_allowed, too_many_mails as {@link resendInvite}.
 */
export async function bounceMail(ctx: Context, { id }: InviteDetail): Promise<void> {
  const email = await findNewestMail(ctx, id)
  if (!email || email.state === 'failed') return
  const where = { organizationId: ctx.organization.id, inviteId: id }
  await inTransaction(ctx, async (inside) => {
    // Resets the email to before it was sent. A concurrent send waits, and then has nothing to record.
    await inside.db.inviteEmail.updateMany({ where: { ...where, id: email.id }, data: { state: 'queued', sentAt: null } })
    await recordEmailAttempt(inside, email, { state: 'failed', failure: 'refused', reason: REFUSAL })
  })
}

/**
 * Reports the newest mail of the invite as spam, as the candidate's mail provider does.
 *
 * @throws DomainError move_not_allowed, too_many_mails as {@link resendInvite}.
 */
export async function complainAboutMail(ctx: Context, { id }: InviteDetail): Promise<void> {
  const email = await findNewestMail(ctx, id)
  if (email) await recordMailNotice(ctx, { kind: 'complained', emailId: email.id })
}

/** Unsubscribes the candidate from all mails of the organization, as the link in a mail does. */
export const unsubscribeFromMails = (ctx: Context, { id }: InviteDetail): Promise<void> => unsubscribe(ctx, id, 'all')

/**
 * Records that the mail server has accepted a reminder, once for each link, unless the candidate has stopped reminders. Rules play no
 * part, and no mail is written.
 *
 * @throws DomainError move_not_allowed once the invite is over.
 */
export async function remindCandidate(ctx: Context, invite: InviteDetail): Promise<void> {
  const { id: inviteId, status, mode, linkVersion, recipientEmail } = invite
  const organizationId = ctx.organization.id
  if (!isRemindedState(status)) throw createMoveError('remind', status)
  const kind = reminderKindOf(status)
  if ((await findSuppressionReason(ctx, { organizationId, kind, invite: { mode, recipientEmail } })) !== null) return
  const now = ctx.deps.clock()
  const email = { id: ctx.deps.newId(), organizationId, inviteId, kind, linkVersion, createdAt: now, updatedAt: now }
  const data = [{ ...email, dedupeKey: `reminder:simulated:${linkVersion}` }]
  await inTransaction(ctx, async (inside) => {
    const { count } = await inside.db.inviteEmail.createMany({ data, skipDuplicates: true })
    if (count > 0) await recordEmailAttempt(inside, email, { state: 'sent' })
  })
}

/** The newest invitation mail; where there was none, one is sent first. */
async function findNewestMail(ctx: Context, inviteId: string) {
  const where = { organizationId: ctx.organization.id, inviteId, kind: { in: [...INVITATION_KINDS] } }
  const find = () => ctx.db.inviteEmail.findFirst({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] })
  const newest = await find()
  if (newest) return newest
  await resendInvite(ctx, inviteId)
  return find()
}
