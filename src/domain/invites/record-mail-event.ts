import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { recordEmailEvent } from '../events/record-events.ts'
import { classifyBounce } from '../mails/classify-bounce.ts'
import type { MailEventReaders, MailEventSource, MailNotice } from '../mails/mail-events.ts'
import { suppressAddressOf } from './suppress-bounced.ts'

/**
 * Parses mail events and records them at the emails. Repeatable: the first event counts. The raw event is deleted, because it may contain
 * the email with the candidate's address and link.
 *
 * @throws Error if the event can't be read now, or not by this process.
 */
export async function processMailEvent(system: ServiceContext, readers: MailEventReaders, id: string): Promise<void> {
  const { db, deps } = system
  const event = await db.mailEvent.findUnique({ where: { id } })
  if (!event || event.processedAt) return
  const reader = readers[event.provider as MailEventSource]
  if (!reader) throw new Error(`This process reads nothing of ${event.provider}: it needs the same settings as those that serve`)
  const notices = await reader.read({ emailId: event.emailId, body: Buffer.from(event.body) })
  for (const notice of notices) await recordMailNotice(system, notice)
  const data = { processedAt: deps.clock(), body: new Uint8Array() }
  await db.mailEvent.update({ where: { id }, data, select: { id: true } })
}

/** Records a bounce or a complaint at its mail, and suppresses the address. */
export async function recordMailNotice(system: ServiceContext, notice: MailNotice): Promise<void> {
  const now = system.deps.clock()
  const email = unscoped(system.db).updateTable('inviteEmails').where('inviteEmails.id', '=', notice.emailId)
  if (notice.kind === 'complained') {
    const change = email.where('inviteEmails.complainedAt', 'is', null).set({ complainedAt: now, updatedAt: now })
    await suppressAddressOf(system, notice.emailId, 'complaint')
    return recordEmailEvent(system, change, { type: 'email.complained' })
  }
  const { status, reason } = notice
  const bounce = classifyBounce(status)
  const change = email
    .where('inviteEmails.bouncedAt', 'is', null)
    .set({ bouncedAt: now, bounce, bounceStatus: status, bounceReason: reason, updatedAt: now })
  await recordEmailEvent(system, change, { type: 'email.bounced', bounce, bounceStatus: status })
  // A mail of an open link has no event, because its reader has no invite yet.
  await unscoped(system.db)
    .updateTable('registrations')
    .where('id', '=', notice.emailId)
    .where('bounce', 'is', null)
    .set({ bounce })
    .execute()
  await suppressAddressOf(system, notice.emailId, bounce)
}
