import type { Context } from '../context.ts'
import { recordAttempt } from '../invites/emails.ts'
import type { InviteDetail } from '../invites/invites.ts'
import { resendInvite } from '../invites/operations.ts'
import { INVITATION_KINDS } from '../mails/candidate-mails.ts'
import { inTransaction } from '../transaction.ts'

/** What a mail server says of an address that it does not know. */
const REFUSAL = '550 5.1.1 There is no such mailbox (simulated)'

/**
 * Has the mail server refuse the newest mail of the invite, whatever it has made of it before; where there was none, one is sent first.
 *
 * @throws DomainError move_not_allowed, too_many_mails as {@link resendInvite}.
 */
export async function bounceMail(ctx: Context, { id }: InviteDetail): Promise<void> {
  const { organization, db } = ctx
  const where = { organizationId: organization.id, inviteId: id, kind: { in: [...INVITATION_KINDS] } }
  const findNewest = () => db.inviteEmail.findFirst({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }] })
  if (!(await findNewest())) await resendInvite(ctx, id)
  const email = await findNewest()
  if (!email || email.state === 'failed') return
  await inTransaction(ctx, async (inside) => {
    // As it was before the mail server was asked; whoever is sending it at this moment waits, and then has nothing to record.
    await inside.db.inviteEmail.updateMany({ where: { ...where, id: email.id }, data: { state: 'queued', sentAt: null } })
    await recordAttempt(inside, email, { state: 'failed', failure: 'refused', reason: REFUSAL })
  })
}
