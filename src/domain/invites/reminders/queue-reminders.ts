import { rawStatement } from '../../../db/statements.ts'
import { queueDueReminders } from '../../../db/statements-by-hand/due-reminders.ts'
import { startTimeBudget } from '../../concurrency/sweep-parts.ts'
import type { ServiceContext } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import { MAX_DELAY_MS, MAX_REMINDERS, MIN_BEFORE_EXPIRY_MS, MIN_MAIL_INTERVAL_MS } from './reminder-steps.ts'

const QUEUED_AT_ONCE = 500
const LIMITS = {
  most: MAX_REMINDERS,
  apart: MIN_MAIL_INTERVAL_MS,
  tooLate: MAX_DELAY_MS,
  tooShort: MIN_BEFORE_EXPIRY_MS,
  rows: QUEUED_AT_ONCE,
}

/**
 * Queues due reminders with their jobs. Each is queued once, also after a crash.
 *
 * @returns the number of reminders.
 */
export async function queueReminders(system: ServiceContext): Promise<number> {
  const isLate = startTimeBudget()
  let queued = 0
  for (;;) {
    const found = await inTransaction(system, async ({ db, deps: { clock, newId, queue } }) => {
      const ids = Array.from({ length: QUEUED_AT_ONCE }, () => newId())
      const mails = await rawStatement(db, queueDueReminders(clock(), ids, LIMITS)).execute()
      if (mails.length > 0) await rawStatement(db, await queue.invitationEmailJobs(mails, { isPatient: true })).execute()
      return mails.length
    })
    queued += found
    if (found < QUEUED_AT_ONCE || isLate()) return queued
  }
}
