import { sql } from '../../db/builder.ts'
import type { Expression } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { Connection, ServiceContext } from '../context.ts'

/**
 * Result of one SMTP delivery attempt.
 * - `taken`: the server accepted it.
 * - `refused`: permanently, because of this mail or its recipient.
 * - `later`: temporarily, because of this mail or its recipient.
 * - `unable`: because of the service, its settings, or the server, which affects all mails. `isCertain` is false if the server
 * may have meant this mail alone.
 */
export type Verdict =
  | { kind: 'taken' }
  | { kind: 'refused' | 'later'; reason: string }
  | { kind: 'unable'; about: OutageCause; isCertain: boolean; reason: string }

/** Mail servers like to repeat the recipient; the log is not to know. */
export const withoutAddresses = (reason: string): string => reason.replace(/[^\s<>]+@[^\s<>]+/g, '…')

// While the mail server accepts no email at all, one database row tells all processes, and one email at a time probes the server for all of
// them. Times are the database's, because clocks differ.

/** Cause of an outage: no answer; the server rejects the service; it limits the rate. */
export type OutageCause = 'unreachable' | 'rejecting' | 'throttled'

export type MailOutage = { since: Date; about: OutageCause; reason: string; probes: number; nextProbeAt: Date }

type Db = Pick<ServiceContext, 'db'>

/** Seconds between the first two probes, and between the last. A server that knows the service and refuses it may lock an account that asks often. */
const PAUSES: Record<OutageCause, { first: number; longest: number }> = {
  unreachable: { first: 5, longest: 60 },
  rejecting: { first: 30, longest: 600 },
  throttled: { first: 30, longest: 120 },
}

/** Empties the outage's reason if the regular expression matches it, ignoring case. Any organization's mail may have caused it. */
export async function purgeOutageReason({ db }: Db, pattern: string): Promise<void> {
  const naming = unscoped(db)
    .updateTable('mailOutages')
    .set({ reason: '' })
    .where(({ ref }) => sql<boolean>`${ref('reason')} ~* ${pattern}`)
  await naming.execute()
}

/** Records the start of an outage, with the last error of the server or the connection. @returns false if it is recorded already. */
export async function beginMailOutage({ db }: Db, cause: OutageCause, reason: string): Promise<boolean> {
  const { first } = PAUSES[cause]
  const outage = { id: 1, since: now, about: cause, reason, pauseSeconds: first, nextProbeAt: inSeconds(sql`${first}::int`) }
  const insertion = unscoped(db)
    .insertInto('mailOutages')
    .values(outage)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ about: eb.ref('excluded.about'), reason: eb.ref('excluded.reason') })),
    )
  const { isNew } = await insertion.returning(sql<boolean>`xmax = 0`.as('isNew')).executeTakeFirstOrThrow()
  return isNew
}

const now = sql<Date>`now()`
const inSeconds = (seconds: Expression<number>) => sql<Date>`now() + make_interval(secs => ${seconds})`

/** Takes the turn to try one mail. Of all processes that ask it is one, once in a pause, which doubles. */
export async function claimMailProbe({ db }: Db): Promise<boolean> {
  const claim = unscoped(db).updateTable('mailOutages').where('nextProbeAt', '<=', now)
  const claimed = await affectedRows(
    claim.set((eb) => {
      const longest = eb
        .case('about')
        .when('unreachable')
        .then(eb.lit(PAUSES.unreachable.longest))
        .when('throttled')
        .then(eb.lit(PAUSES.throttled.longest))
        .else(eb.lit(PAUSES.rejecting.longest))
        .end()
      const pauseSeconds = eb.fn<number>('least', [eb('pauseSeconds', '*', eb.lit(2)), longest])
      return { probes: eb('probes', '+', eb.lit(1)), pauseSeconds, nextProbeAt: inSeconds(eb.ref('pauseSeconds')) }
    }),
  )
  return claimed > 0
}

/** Makes the next probe due now. Called when the operator has fixed the cause or restarted the service. */
export async function bringMailProbeForward({ db }: Db): Promise<void> {
  await unscoped(db).updateTable('mailOutages').set({ nextProbeAt: now }).where('nextProbeAt', '>', now).execute()
}

/** Records that a mail was sent. @returns true if that ended an outage. */
export const endMailOutage = async ({ db }: Db): Promise<boolean> =>
  (await affectedRows(unscoped(db).deleteFrom('mailOutages'))) > 0

/** Null while mails go out. */
export const readMailOutage = async (db: Connection): Promise<MailOutage | null> =>
  (await db.mailOutage.findUnique({ where: { id: 1 } })) as MailOutage | null
