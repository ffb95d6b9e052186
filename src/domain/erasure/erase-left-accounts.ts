import { everyones } from '../../db/everyone.ts'
import { among } from '../../db/own.ts'
import { all, run } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { DAY_MS } from '../values/days.ts'
import { repeatInHalves } from '../work/in-halves.ts'

// What somebody is called and signs in with is theirs in all organizations. Where none has them any more, it waits for another that invites
// them, and then goes. Deactivated members are members: theirs stays.

/** So long it waits, from when the sweep first saw it. */
const KEPT_MS = 30 * DAY_MS
const ACCOUNTS_AT_ONCE = 500

/** What is kept of people: names and addresses, and what they sign in with, with its factors, sessions, browsers and forms. */
const KEPT = [
  {
    table: 'users',
    members: everyones
      .selectFrom('members')
      .select('id')
      .whereRef('members.userId', '=', 'users.id' as never),
  },
  {
    table: 'credentials',
    members: everyones
      .selectFrom('members')
      .select('id')
      .whereRef('members.credentialId', '=', 'credentials.id' as never),
  },
] as const

/** Erases accounts that have been of no organization for 30 days, of all there are. @returns how many rows of people, and of what they sign in with. */
export async function eraseLeftAccounts(system: ServiceContext): Promise<number> {
  const { db, deps } = system
  const now = deps.clock()
  let erased = 0
  for (const { table, members } of KEPT) {
    const accounts = everyones.selectFrom(table).select('id')
    const back = accounts.where('leftSince', 'is not', null).where(({ exists }) => exists(members))
    await run(db, everyones.updateTable(table).set({ leftSince: null }).where('id', 'in', back))
    await repeatInHalves(ACCOUNTS_AT_ONCE, (atMost) => {
      const left = accounts.where('leftSince', 'is', null).where(({ not, exists }) => not(exists(members)))
      return run(db, everyones.updateTable(table).set({ leftSince: now }).where('id', 'in', left.limit(atMost)))
    })
    const due = accounts.where('leftSince', '<=', new Date(now.getTime() - KEPT_MS)).orderBy('id')
    await repeatInHalves(ACCOUNTS_AT_ONCE, async (atMost) => {
      const gone = await inTransaction(system, async (inside) => {
        // Whoever joins with one of them at this moment is waited for, and keeps it.
        const ids = (await all(inside.db, due.limit(atMost).forUpdate())).map(({ id }) => id)
        const deletion = everyones.deleteFrom(table).where('id', '=', among(ids))
        return run(
          inside.db,
          deletion.where(({ not, exists }) => not(exists(members))),
        )
      })
      erased += gone
      return gone
    })
  }
  return erased
}
