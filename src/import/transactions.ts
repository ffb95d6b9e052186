import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../db/builder.ts'
import type { Connection } from '../db/client.ts'
import { rawStatement } from '../db/statements.ts'
import { transact } from '../db/transact.ts'
import type { ServiceContext } from '../domain/context.ts'

/** Id of the import's advisory lock. */
const LOCK = 72_707_370
const RETRY_MS = 100
/** Milliseconds for one organization, and for a whole document. */
const ORGANIZATION_TIMEOUT_MS = 30 * 60_000
const IMPORT_TIMEOUT_MS = 24 * 3_600_000

/**
 * Runs the work while no other process imports, because two imports could create the same rows. The lock ends with its connection, even if the
 * process is killed.
 *
 * @param onWait called once if another import is running.
 */
export async function withImportLock<T>({ db }: ServiceContext, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let outcome: { result: T } | undefined
  const lock = transact(
    db,
    async (tx) => {
      await allowIdle(tx, '0')
      for (let waits = false; !(await tryLock(tx)); waits = true) {
        if (!waits) onWait()
        await sleep(RETRY_MS)
      }
      outcome = { result: await work() }
    },
    { timeout: IMPORT_TIMEOUT_MS },
  )
  // The work uses other transactions: once it is done, a broken lock connection doesn't matter.
  await lock.catch((error) => {
    if (!outcome) throw error
  })
  return outcome!.result
}

async function tryLock(tx: Connection): Promise<boolean> {
  const lock = sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as locked`
  return (await rawStatement(tx, lock).executeTakeFirstOrThrow()).locked
}

/** Sets the idle timeout until the transaction ends. */
const allowIdle = (tx: Connection, time: string) =>
  rawStatement(tx, sql`select set_config('idle_in_transaction_session_timeout', ${time}, true)`).execute()

/** A transaction that may pause between statements. The pool's timeout is made for requests. */
export const longTransaction = <T>({ db }: ServiceContext, work: (tx: Connection) => Promise<T>): Promise<T> =>
  transact(
    db,
    async (tx) => {
      await allowIdle(tx, '5min')
      return work(tx)
    },
    { timeout: ORGANIZATION_TIMEOUT_MS },
  )
