import { queryRows } from '../db/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Connection, ServiceContext } from './context.ts'

/**
 * What the mail server makes of a mail.
 * - `taken`: it is the server's now.
 * - `refused`: for good, because of what this mail or its recipient is.
 * - `later`: not now, because of what this mail or its recipient is.
 * - `unable`: not because of this mail, but of the service, its settings or the server, which concern every other mail as well.
 *   `isCertain` is false where a server may have meant this one mail by it.
 */
export type Verdict =
  | { kind: 'taken' }
  | { kind: 'refused' | 'later'; reason: string }
  | { kind: 'unable'; about: OutageCause; isCertain: boolean; reason: string }

/** Mail servers like to repeat the recipient; the log is not to know. */
export const withoutAddresses = (reason: string): string => reason.replace(/[^\s<>]+@[^\s<>]+/g, '…')

// While the mail server takes no mails at all, whatever the mail, there is one row that all processes see, and one mail at a time probes
// for all of them. Times are the database's, so that all processes mean the same.

/** What keeps mails from going out: nobody answers; the server turns the service away; it wants fewer mails than there are. */
export type OutageCause = 'unreachable' | 'rejecting' | 'throttled'

export type MailOutage = { since: Date; about: OutageCause; reason: string; probes: number; nextProbeAt: Date }

type Db = Pick<ServiceContext, 'db'>

/** Seconds between the first two probes, and between the last. A server that knows the service and refuses it may lock an account that asks often. */
const PAUSES: Record<OutageCause, { first: number; longest: number }> = {
  unreachable: { first: 5, longest: 60 },
  rejecting: { first: 30, longest: 600 },
  throttled: { first: 30, longest: 120 },
}
const longest = Prisma.sql`CASE about WHEN 'unreachable' THEN ${PAUSES.unreachable.longest}::int WHEN 'throttled' THEN ${PAUSES.throttled.longest}::int ELSE ${PAUSES.rejecting.longest}::int END`

/** Records that no mail goes out, and what the server, or the connection to it, said last. @returns whether it was not recorded yet. */
export async function beginMailOutage({ db }: Db, about: OutageCause, reason: string): Promise<boolean> {
  const { first } = PAUSES[about]
  const [{ isNew }] = (await queryRows<{ isNew: boolean }>(
    db,
    Prisma.sql`
      INSERT INTO mail_outages (id, since, about, reason, pause_seconds, next_probe_at)
      VALUES (1, now(), ${about}, ${reason}, ${first}::int, now() + make_interval(secs => ${first}::int))
      ON CONFLICT (id) DO UPDATE SET about = excluded.about, reason = excluded.reason
      RETURNING (xmax = 0) AS "isNew"`,
  )) as [{ isNew: boolean }]
  return isNew
}

/** Takes the turn to try one mail. Of all processes that ask it is one, once in a pause, which doubles. */
export async function claimMailProbe({ db }: Db): Promise<boolean> {
  const claimed = await db.$executeRaw`
    UPDATE mail_outages
    SET probes = probes + 1, pause_seconds = least(pause_seconds * 2, ${longest}),
      next_probe_at = now() + make_interval(secs => pause_seconds)
    WHERE next_probe_at <= now()`
  return claimed > 0
}

/** Has the next mail tried at once: whoever runs the service says that the cause is mended, or has started it anew. */
export async function hastenMailProbe({ db }: Db): Promise<void> {
  await db.$executeRaw`UPDATE mail_outages SET next_probe_at = now() WHERE next_probe_at > now()`
}

/** A mail has passed. @returns whether there was an outage. */
export const endMailOutage = async ({ db }: Db): Promise<boolean> => (await db.$executeRaw`DELETE FROM mail_outages`) > 0

/** Null while mails go out. */
export const readMailOutage = async (db: Connection): Promise<MailOutage | null> =>
  (await db.mailOutage.findUnique({ where: { id: 1 } })) as MailOutage | null
