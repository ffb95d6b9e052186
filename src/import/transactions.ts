import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../db/builder.ts'
import type { Connection } from '../db/client.ts'
import { run } from '../db/statements.ts'
import { transact } from '../db/transact.ts'
import { unscoped } from '../db/unscoped.ts'
import type { ServiceContext } from '../domain/context.ts'

/** Of all advisory locks of the database, the one of the import. */
const LOCK = 72_707_370
const RETRY_MS = 100
/** Milliseconds: for a whole organization, and for all of a document. */
const ORGANIZATION_TIMEOUT_MS = 30 * 60_000
const IMPORT_TIMEOUT_MS = 24 * 3_600_000

/**
 * Does the work while no other process imports: two documents at once could make the same rows. The database forgets the lock with the
 * connection that holds it, so a process that is killed leaves nobody waiting.
 *
 * @param onWait called once when another import is under way.
 */
export async function inTurn<T>({ db }: ServiceContext, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let done: { result: T } | undefined
  const turn = transact(
    db,
    async (tx) => {
      await run(tx, mayIdle('0'))
      for (let waits = false; !(await tryLock(tx)); waits = true) {
        if (!waits) onWait()
        await sleep(RETRY_MS)
      }
      done = { result: await work() }
    },
    { timeout: IMPORT_TIMEOUT_MS },
  )
  // The work has transactions of its own: when the connection of the lock breaks after it, what it did is done all the same.
  await turn.catch((error) => {
    if (!done) throw error
  })
  return done!.result
}

async function tryLock(tx: Connection): Promise<boolean> {
  const lock = unscoped(tx).selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(${LOCK})`.as('locked'))
  return (await lock.executeTakeFirstOrThrow()).locked
}

/** Until the transaction ends: between two of its statements so long may pass. */
const mayIdle = (time: string) =>
  unscoped().selectNoFrom(sql<string>`set_config('idle_in_transaction_session_timeout', ${time}, true)`.as('time'))

/** A transaction in which between two statements a while may pass: the pool's limit is made for requests. */
export const longTransaction = <T>({ db }: ServiceContext, work: (tx: Connection) => Promise<T>): Promise<T> =>
  transact(
    db,
    async (tx) => {
      await run(tx, mayIdle('5min'))
      return work(tx)
    },
    { timeout: ORGANIZATION_TIMEOUT_MS },
  )
