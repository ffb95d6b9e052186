import { sql } from '../../db/builder.ts'
import { anyOfIds } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Connection, ServiceContext } from '../context.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'

// Deletes accounts without a membership. An account belongs to the person in all organizations; without one it waits some time
// for another invitation. Deactivated members keep theirs.

/** Time that an account without a membership is kept, from when a sweep first found it. */
const KEPT_MS = 30 * DAY_MS
const ACCOUNTS_AT_ONCE = 500

/** Tables of an account: names and addresses, factors, sessions, devices, and saved forms. */
const KEPT = [
  {
    table: 'users',
    members: unscoped().selectFrom('members').select('id').where('members.userId', '=', sql.ref<string>('users.id')),
  },
  {
    table: 'credentials',
    members: unscoped().selectFrom('members').select('id').where('members.credentialId', '=', sql.ref<string>('credentials.id')),
  },
] as const

/** Erases accounts that have had no organization for 30 days. @returns the numbers of people and of erased sign-in data. */
export async function eraseOrphanedAccounts(system: ServiceContext): Promise<number> {
  const { db, deps } = system
  const now = deps.clock()
  let erased = 0
  for (const { table, members } of KEPT) {
    const accountsIn = (db: Connection) => unscoped(db).selectFrom(table).select('id')
    const back = accountsIn(db)
      .where('orphanedSince', 'is not', null)
      .where(({ exists }) => exists(members))
    await unscoped(db).updateTable(table).set({ orphanedSince: null }).where('id', 'in', back).execute()
    await repeatBatch(ACCOUNTS_AT_ONCE, (atMost) => checkBatch(system, { table, members, atMost }))
    await repeatBatch(ACCOUNTS_AT_ONCE, async (atMost) => {
      const erasedCounts = await inTransaction(system, async (inside) => {
        // Waits for concurrent joins with one of the accounts. A joined account stays.
        const dueAccounts = accountsIn(inside.db)
          .where('orphanedSince', '<=', new Date(now.getTime() - KEPT_MS))
          .orderBy('id')
        const ids = (await dueAccounts.limit(atMost).forUpdate().execute()).map(({ id }) => id)
        const deletion = unscoped(inside.db).deleteFrom(table).where('id', '=', anyOfIds(ids))
        return affectedRows(deletion.where(({ not, exists }) => not(exists(members))))
      })
      erased += erasedCounts
      return erasedCounts
    })
  }
  return erased
}

type AccountBatch = (typeof KEPT)[number] & { atMost: number }

/** Checks new accounts and those that lost a membership for orphans; both are few. Locked accounts are checked next time. */
const checkBatch = (system: ServiceContext, { table, members, atMost }: AccountBatch): Promise<number> =>
  inTransaction(system, async ({ db, deps }) => {
    const unchecked = unscoped(db).selectFrom(table).select('id').where('needsOrphanCheck', '=', sql.lit(true))
    const ids = (await unchecked.limit(atMost).forUpdate().skipLocked().execute()).map(({ id }) => id)
    // By a statement that begins once they are held: no membership ends unseen.
    const checkedRows = unscoped(db).updateTable(table).where('id', '=', anyOfIds(ids))
    await checkedRows
      .where(({ not, exists }) => not(exists(members)))
      .set({ orphanedSince: deps.clock() })
      .execute()
    await checkedRows.set({ needsOrphanCheck: false }).execute()
    return ids.length
  })
