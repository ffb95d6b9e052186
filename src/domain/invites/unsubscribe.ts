import { into, own } from '../../db/own.ts'
import { first, run } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { mailsStopped, type StoppedMails, TOLD } from '../events/event.ts'
import { recordEvents } from '../events/record-events.ts'
import { inTransaction } from '../transaction.ts'
import { findInviter } from './whom-to-ask.ts'

/** What the page shows of whose mails they are, and what the address gets no more; null where the invite is gone. */
export async function findUnsubscribing(service: ServiceContext, inviteId: string) {
  const inviter = await findInviter(service, inviteId)
  const invite = await service.db.invite.findUnique({
    where: { id: inviteId },
    select: { organizationId: true, mode: true, recipientEmail: true },
  })
  if (!inviter || !invite) return null
  const { organizationId, mode, recipientEmail } = invite
  const found = await service.db.suppression.findMany({
    where: { organizationId, mode, address: recipientEmail.toLowerCase(), until: null },
    select: { scope: true },
  })
  return { inviter, stopped: found.map(({ scope }) => scope) }
}

/**
 * Has the invite's organization write no more reminders and notices, or nothing at all, to its address, from now on. Once more changes
 * nothing.
 *
 * @throws DomainError invite_not_found.
 */
export async function unsubscribe(service: ServiceContext, inviteId: string, scope: StoppedMails): Promise<void> {
  await inTransaction({ ...service, actor: { kind: 'candidate', inviteId } }, async (inside) => {
    const { db, deps } = inside
    const found = await db.invite.findUnique({ where: { id: inviteId }, select: { organizationId: true } })
    if (!found) throw new DomainError('invite_not_found')
    const invites = own({ organization: { id: found.organizationId }, mode: 'all' }, 'invites').where('invites.id', '=', inviteId)
    const invite = await first(db, invites.select(TOLD).select('invites.recipientEmail').forShare())
    if (!invite) throw new DomainError('invite_not_found')
    const { organizationId, mode, recipientEmail } = invite
    const since = deps.clock()
    const address = recipientEmail.toLowerCase()
    const stopped = await run(
      db,
      into('suppressions')
        .values({ organizationId, id: deps.newId(), mode, address, scope, reason: 'unsubscribed', since })
        .onConflict((conflict) =>
          conflict
            .columns(['organizationId', 'mode', 'address', 'scope'])
            .doUpdateSet({ reason: 'unsubscribed', since, until: null, emailId: null })
            // Who has called a mail spam, has said more than that.
            .where(({ eb, or }) =>
              or([eb('suppressions.until', 'is not', null), eb('suppressions.reason', 'not in', ['unsubscribed', 'complaint'])]),
            ),
        ),
    )
    if (stopped > 0) await recordEvents(inside, [mailsStopped(invite, scope)])
  })
}
