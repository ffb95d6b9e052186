import { sql } from '../../db/builder.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'

// Mail servers report deliveries by notices to the envelope sender, providers by HTTP requests. A verified report is stored as it arrived
// until a worker parses it.

/** Sources: a mail server that forwards its notices, Amazon SES by SNS, Postmark. */
export const MAIL_EVENT_SOURCES = ['dsn', 'ses', 'postmark'] as const
export type MailEventSource = (typeof MAIL_EVENT_SOURCES)[number]

/** Report about one mail. @property status RFC 3463 code such as `5.1.1`; empty if none. @property reason text of the server. */
export type MailNotice = { emailId: string } & ({ kind: 'bounced'; status: string; reason: string } | { kind: 'complained' })

/** A received mail event. @property emailId id of the mail, if the recipient address or URL of the event names it. */
export type MailEvent = { emailId: string | null; body: Buffer }

/** Reader of one source of mail events. */
export type MailEventReader = {
  /** Checks the sender before the body is read. @returns null if the sender is not allowed. */
  admit: (headers: Record<string, string | string[] | undefined>) => { emailId: string | null } | null
  /** The event's id at its source; null when the body is not theirs. @throws Error when that can't be found out at the moment. */
  identify: (body: Buffer) => Promise<string | null>
  /** Reports in an event; empty if it has none that count. Called again after an error. */
  read: (event: MailEvent) => Promise<MailNotice[]>
}

/** Enabled sources. */
export type MailEventReaders = Partial<Record<MailEventSource, MailEventReader>>

/** Stored notices per email; no server sends as many. Addresses are signed, but anyone who knows one could send notices forever. */
const MAX_NOTICES = 20

/** Stores a notice and queues its reading. A repeated notice, one of a mail that is gone, and one beyond the mail's limit are dropped. */
export async function storeMailEvent(
  system: ServiceContext,
  { provider, eventId, emailId, body }: MailEvent & { provider: MailEventSource; eventId: string },
): Promise<void> {
  await inTransaction(system, async ({ db, deps: { newId, clock, queue } }) => {
    if (emailId !== null) {
      // Locked, so that parallel notices of one mail are counted one by one.
      const lock = (table: 'inviteEmails' | 'registrations') =>
        unscoped(db).selectFrom(table).select('id').where('id', '=', emailId).forNoKeyUpdate().executeTakeFirst()
      const mail = (await lock('inviteEmails')) ?? (await lock('registrations'))
      if (!mail || (await db.mailEvent.count({ where: { emailId } })) >= MAX_NOTICES) return
    }
    const id = newId()
    const event = { id, provider, eventId, emailId, body: Uint8Array.from(body), receivedAt: clock() }
    const storedCount = await affectedRows(
      unscoped(db)
        .insertInto('mailEvents')
        .values(event)
        .onConflict((conflict) => conflict.doNothing()),
    )
    if (storedCount > 0) await queue.enqueueMailEvent(db, id)
  })
}

/** @returns the number of deleted events. */
export const purgeMailEvents = ({ db }: Pick<ServiceContext, 'db'>, emailIds: readonly string[]): Promise<number> =>
  affectedRows(unscoped(db).deleteFrom('mailEvents').where('emailId', '=', sql<string>`any(${emailIds}::uuid[])`))
